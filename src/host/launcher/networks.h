#pragma once
// The networks of runs. A run's network is a network namespace, its hub, which routes between the
// machines of the run. Each machine is a network namespace, too, with one link to the hub. The hub
// has no link to the host: what leads out of it are listening sockets, which are made inside and
// served from outside, and the packet socket of caip-nat (way_out.h).
//
//     eth0 10.128.0.2/32  --  r2 \                       / 10.128.0.1, 169.254.169.254:
//     eth0 10.128.0.3/32  --  r3 -- hub, which forwards --  sockets that caip serves

#include <cstdint>

#include "host/launcher/protocol.h"

namespace caip::host::launcher {

/// What failed; kNone: nothing.
struct Outcome {
  Step failed = Step::kNone;
  int error = 0;  // errno
  bool ok() const { return failed == Step::kNone; }
};

/// Gives this process the rights that the functions below need. A process without them, which
/// usually is not root's, gets them in a user namespace, where its user is root.
Outcome GetNetworkRights();

/// Descriptors of a run's network, which keep it alive.
struct Hub {
  int network = -1;  // its namespace
  int netlink = -1;  // a netlink socket that acts on it (netlink.h)
  int packets = -1;  // the packet socket of its way out (way_out.h); -1: it has none
};
/// Closes copies of the descriptors in a child.
void CloseHub(const Hub& hub);
/// The same in the process that has the last copies.
void CloseLastOfHub(Hub hub);

/// Closes a descriptor without waiting until the kernel has done so, which takes 10 to 20 ms for a
/// packet socket. The descriptor goes into a pair of sockets that only their own unread message
/// keeps alive: the kernel's collector of such sockets (man 7 unix, SCM_RIGHTS) closes all of them
/// on a thread of its own. Kernels that collect at once make the caller wait.
void CloseInBackground(int fd);

struct NewHub {
  Hub hub = {};
  Outcome outcome = {Step::kNetwork, 0};
};

/// Makes the hub of a run, with its endpoints, and sends their listening sockets to `caip`.
/// `endpoints` is a memory file of Endpoint structs. No process stays alive for it.
NewHub MakeHub(uint64_t number, int endpoints, int caip);

struct NewLink {
  int network = -1;  // the namespace of the machine; its descriptor keeps it alive
  Outcome outcome = {Step::kNetwork, 0};
};

/// Makes the network namespace of a machine with its loopback device and a link to the hub.
/// `address`: of the machine, in network byte order. `number`: of the link, counted from 1 in each
/// hub. `replaced`: the link of the machine that had the address before; 0: none. Nothing that the
/// kernel still sends for that machine arrives any more.
NewLink MakeLink(const Hub& hub, uint32_t address, int number, int replaced);

}  // namespace caip::host::launcher
