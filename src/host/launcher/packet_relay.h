#pragma once
// The packet relay of a run's network: a child of caip-launcher that passes on, delays, refuses or
// loses the packets between the two ends of a faulty connection. It starts with the first fault, so
// networks without faults do not know it. Rules in the hub lead the packets of faulty pairs to it,
// and it sends them back to the hub, which then routes them as usual (ADR 26).
//
//     machine -- hub == rule ==> flt0 == flt1 -- packet socket -- relay
//     machine -- hub <========== flt0 == flt1 -- packet socket -- relay

#include <cstdint>

#include "host/launcher/networks.h"

namespace caip::host::launcher {

struct RelayStart {
  int network = -1;  // the namespace of the hub
  int control = -1;  // a socket from which it receives kSetFaults commands
  int caip = -1;     // a socket for its reports
};

/// Runs in its own process. Returns when the other end of `control` has closed.
void RunRelay(const RelayStart& start);

}  // namespace caip::host::launcher
