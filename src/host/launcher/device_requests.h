#pragma once
// Requests about network devices, their addresses and their routes.

#include <cstdint>

#include "host/launcher/netlink.h"

namespace caip::host::launcher {

inline constexpr int kLoopbackIndex = 1;

/// Brings a device up. `flags`: further ones that it gets (IFF_NOARP).
void RequestUp(NetlinkRequests& requests, int index, unsigned flags = 0);

/// An IPv4 address in network byte order.
void RequestAddress(NetlinkRequests& requests, int index, uint32_t address);

struct Route {
  uint32_t to = 0;  // in network byte order; 0: to all
  uint8_t length = 0;
  uint32_t gateway = 0;  // 0: by the device itself
  int index = 0;         // of the device; 0: none
  uint8_t type = RTN_UNICAST;
};
void RequestRoute(NetlinkRequests& requests, const Route& route);

/// Machines have no IPv6 addresses, like those of the service. Hosts without IPv6 refuse it.
void RequestNoIpv6(NetlinkRequests& requests, int index);

/// Packets that arrive at the device are passed on.
void RequestForwarding(NetlinkRequests& requests, int index);

/// One end of a pair of devices.
struct PairEnd {
  int index = 0;
  const char* name = nullptr;
  int network = -1;  // the network namespace that gets it; -1: that of the netlink socket
};
/// The first end belongs to the namespace of the netlink socket.
void RequestPair(NetlinkRequests& requests, const PairEnd& first, const PairEnd& second);

}  // namespace caip::host::launcher
