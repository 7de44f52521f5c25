#pragma once
// Requests about network devices, their addresses and their routes.

#include <cstdint>

#include "host/launcher/netlink.h"

namespace caip::host::launcher {

inline constexpr int kLoopbackIndex = 1;

/// Brings a device up. `flags`: further ones that it gets (IFF_NOARP).
void RequestUp(NetlinkRequests& requests, int index, unsigned flags = 0);

/// Takes a device down, with its routes. A failure is ignored.
void RequestDown(NetlinkRequests& requests, int index);

/// An IPv4 address in network byte order.
void RequestAddress(NetlinkRequests& requests, int index, uint32_t address);

struct Route {
  uint32_t to = 0;  // in network byte order; 0: to all
  uint8_t length = 0;
  uint32_t gateway = 0;  // 0: by the device itself
  int index = 0;         // of the device; 0: none
  uint8_t type = RTN_UNICAST;
  uint8_t table = RT_TABLE_MAIN;
};
void RequestRoute(NetlinkRequests& requests, const Route& route);

/// Machines have no IPv6 addresses, like those of the service. Hosts without IPv6 refuse it.
void RequestNoIpv6(NetlinkRequests& requests, int index);

/// Packets that arrive at the device are passed on.
void RequestForwarding(NetlinkRequests& requests, int index);

/// Packets may arrive at the device with an address of its own network namespace as their source.
void RequestOwnSources(NetlinkRequests& requests, int index);

/// A rule that chooses the table of routes for packets.
struct Rule {
  uint32_t priority = 0;  // lower numbers come first
  uint8_t table = RT_TABLE_MAIN;
  uint32_t from = 0;  // in network byte order; 0: from all
  uint32_t to = 0;
  const char* device = nullptr;  // at which they arrive; null: any
  uint8_t protocol = 0;          // IPPROTO_TCP; 0: any
};
void RequestRule(NetlinkRequests& requests, const Rule& rule);
void RequestNoRule(NetlinkRequests& requests, const Rule& rule);

/// One end of a pair of devices.
struct PairEnd {
  int index = 0;
  const char* name = nullptr;
  int network = -1;  // the network namespace that gets it; -1: that of the netlink socket
};
/// The first end belongs to the namespace of the netlink socket.
void RequestPair(NetlinkRequests& requests, const PairEnd& first, const PairEnd& second);

/// Waits until a device of the netlink socket's namespace sends packets. The one of a pair that
/// came up first loses them until a thread of the kernel has seen its link, although its flags say
/// that it runs.
bool AwaitLink(int netlink, int index);

// Of devices in the network namespace of this process.

/// Packets leave the device as they would be on a wire: with checksums, and none above the MTU.
/// Returns 0 or an errno.
int FillChecksums(const char* device);

/// A packet socket that receives what arrives at the device, and sends from it; -1 with errno.
int OpenPacketSocket(int index);

}  // namespace caip::host::launcher
