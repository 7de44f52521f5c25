#pragma once
// The network of a run's machines: the emulator, Google's names and the metadata server at its real
// address, and the hosts file of a replica (docs/service/clients.md, section 6).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "host/abilities.h"

namespace caip::front {

struct ReplicaNetworkOptions {
  uint16_t port = 0;               // of the emulator, also at the shared address
  std::vector<std::string> names;  // Google's names that the shared address answers to
  /// More such names, those of buckets, at the start of a replica.
  std::function<std::vector<std::string>()> more_names = [] { return std::vector<std::string>(); };
  host::OwnMachines* machines = nullptr;  // the launcher's; outlives the results
  bool makes_ahead = true;                // networks and machines are made before the launches
  /// The host's files of certificate authorities, in whose place replicas see caip's file.
  std::vector<std::string> covered = {};
};

/// The tag of a replica's listener: "project/job/trial/worker-replica-1".
std::string ListenerTag(const engine::RunKey& run, run::ReplicaId replica);
/// The tag of the listeners that a run's replicas share: "project/job/trial/".
std::string RunTag(const engine::RunKey& run);

/// The address of a replica of the run; "" if the run has no such replica.
std::string AddressOf(const engine::ReplicaMachine& machine, run::ReplicaId replica);

/// The endpoints of a run: the metadata server, the emulator's port, and http and https, which
/// serve Google's names. All replicas share them.
std::shared_ptr<const engine::RunNetwork> NetworkOf(const engine::RunKey& run,
                                                    const ReplicaNetworkOptions& options);

std::string HostsFileOf(const engine::ReplicaMachine& machine,
                        const std::vector<std::string>& names, const host::OwnMachines& machines);

/// Finds, by the peer's address ("10.128.0.3:40112"), the tag of the replica that connected to an
/// endpoint of RunTag. An unknown address counts as the first replica.
std::function<std::string(const std::string& peer)> ReplicaFinder(
    const engine::RunKey& run, const engine::ReplicaMachine& machine);

struct HostsFacts {
  /// Host names and addresses of the run's replicas, in the plan's order: {"cmle-training-ps-...",
  /// "10.128.0.3"}.
  std::vector<std::pair<std::string, std::string>> replicas;
  std::vector<std::string> served;  // names that `served_at` answers to
  std::string served_at = {};
  std::string host = {};  // the address of kHostName; "": the file lacks the name
};

/// A file for hosts(5). The metadata server has the address of the real one, 169.254.169.254.
std::string RenderHostsFile(const HostsFacts& facts);

/// The file of certificate authorities on each machine. Every user of an image can read it, also
/// where the image closes directories that lead to the state directory (/root).
inline constexpr char kBundleOnMachines[] = "/dev/caip-ca.pem";

/// The metadata server's address on each of the service's machines.
inline constexpr char kMetadataAddress[] = "169.254.169.254";

/// The name by which a machine reaches 127.0.0.1 of the host on which caip runs.
inline constexpr char kHostName[] = "host.caip.internal";

}  // namespace caip::front
