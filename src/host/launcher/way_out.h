#pragma once
// The way out of a run's network: a pair of devices in the hub, out0 and out1. The hub routes to
// out0 what leads to no machine. A packet socket on out1 receives it, and caip-nat
// (src/host/nat/main.cc) carries it to the networks of this host. This needs no rights over the
// host and no /dev/net/tun.
//
//     machine -- hub -- out0 == out1 -- packet socket -- caip-nat -- sockets of this host

#include <sys/types.h>

#include <string>

namespace caip::host::launcher {

struct WayOut {
  int packets = -1;  // the packet socket of a new network; -1: none
  int error = 0;     // errno of what failed
};

/// Makes the devices in the network namespace of this process. `netlink` acts on it.
WayOut MakeWayOut(int netlink);

/// Its exit status if it could not be started.
inline constexpr int kNatIsMissing = 127;

/// Starts caip-nat of the `folder`, which ends with a slash, with `packets` as its standard input.
/// It dies with this process. -1: this process cannot fork.
pid_t StartNat(int packets, const std::string& folder);

}  // namespace caip::host::launcher
