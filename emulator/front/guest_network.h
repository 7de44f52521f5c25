#pragma once
// What a replica finds in a network of its run's own: the emulator, Google's names and the metadata
// server, each at its real address.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/abilities.h"

namespace caip::front {

struct GuestNetworkOptions {
  uint16_t port = 0;               // the emulator's, at the shared address there, too
  std::vector<std::string> names;  // of Google's, that are answered at the shared address
  /// Names of the same that come and go (of buckets), as they are when a replica starts.
  std::function<std::vector<std::string>()> more_names = [] { return std::vector<std::string>(); };
  host::OwnNetworks* networks = nullptr;  // the launcher's; outlives what is made with it
};

/// The tag of a replica's listener: "project/job/trial/worker-replica-1".
std::string ListenerTag(const engine::RunKey& run, run::ReplicaId replica);
/// The tag of the listeners that a run's replicas share: "project/job/trial/".
std::string RunTag(const engine::RunKey& run);

/// Where a replica has a door for itself: "127.0.0.2:61000". The proxy that it is told of.
std::string OwnDoor(const engine::ReplicaMachine& machine, run::ReplicaId replica,
                    const host::OwnNetworks& networks);

/// A door for each replica, and those that they share: the metadata server's, the emulator's port,
/// and those of http and https, where Google's names are served.
std::shared_ptr<const engine::RunNetwork> NetworkOf(const engine::RunKey& run,
                                                    const engine::ReplicaMachine& machine,
                                                    const GuestNetworkOptions& options);

std::string HostsFileOf(const engine::ReplicaMachine& machine,
                        const std::vector<std::string>& names, const host::OwnNetworks& networks);

/// Tells, by a peer's address, the tag of the replica that came to the doors of RunTag. A process
/// that cannot be found (any more) passes for the first replica.
std::function<std::string(const std::string& peer)> GuestFinder(
    const engine::RunKey& run, const engine::ReplicaMachine& machine,
    const GuestNetworkOptions& options);

}  // namespace caip::front
