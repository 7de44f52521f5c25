#pragma once
// What a replica is started with. Pure, so the same replica gets the same bytes at every start.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "engine/run_note.h"
#include "run/api_port.h"

namespace caip::engine {

/// The devices that the replicas of a run ask for.
std::vector<DeviceRequest> DeviceRequestsOf(const run::RunSpec& spec,
                                            const std::vector<run::PlannedReplica>& plan);

/// What a launcher answers for the programs of a run.
struct ResolvedPrograms {
  ImageAnswers images;
  std::vector<FieldViolation> refused;
};
ResolvedPrograms ResolvePrograms(const run::RunSpec& spec, const Launcher& launcher);

/// The same for all replicas of this emulator.
struct LaunchSettings {
  run::HostFacts host;
  /// Whether replicas find each other by the names of their machines, else by their addresses.
  bool names_resolve = false;
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";  // PATH
  /// What the output directory becomes for the replicas of new jobs; unset: the URI itself.
  std::function<std::string(const std::string& uri)> storage_view;
  std::function<std::string(const ReplicaKey&)> boot_disk;  // as the replica sees it; "": its root
};

/// One start of one replica. Made for a call: the references must outlive it.
struct LaunchFacts {
  const run::ApiJob& job;
  const run::ApiRun& run;
  const std::vector<run::PlannedReplica>& plan;  // with addresses
  const RunNote& note;
  const Prepared& prepared;    // where the job has packages
  const LentDevices& devices;  // of this replica
  ReplicaKey key;
  std::string boot_disk;
  std::string path;
};

ReplicaLaunch MakeLaunch(const LaunchFacts& facts, bool fresh_disk);

}  // namespace caip::engine
