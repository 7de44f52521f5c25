#pragma once
// Finds the point at which checks restart the trainer, and what a replica had done by then.

#include <optional>
#include <string>
#include <vector>

#include "harness/check/check_run.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// "master-0", or "master-0/1" in the first trial of a tuning job.
std::string MasterOf(const CheckRun& run);

/// A crash point of the master: after a step in the middle of the training, with a save before it
/// if there is one. For trainers that report no steps, after a write. nullopt if there is no such
/// point.
std::optional<CrashPoint> FindMiddle(const CheckRun& plain);

/// The crash point at which checks restart the trainer: the middle of the master or, if it has
/// none, of the first other replica that has one. Some masters only wait for their workers and
/// export the result. nullopt if no replica has a middle.
std::optional<CrashPoint> FindRestartPoint(const CheckRun& plain);
/// The replica that the run `maintenance` restarts.
std::string RestartedReplicaOf(const CheckSession& session);

/// A write of a replica, and its line in the event list. The object has the name that the replica
/// gave it last: files that are written under a temporary name are renamed.
struct ReplicaWrite {
  const Event* event;
  std::string object;

  /// The name under which it was written.
  const std::string& first_name() const { return FindOperation(*event)->object; }
};
/// The line of the write with both names: "create job/out/x.tmp by master-0, renamed to job/out/x".
std::string Shown(const ReplicaWrite& write);

/// A step that a replica reported, and its line in the event list.
struct ReplicaStep {
  const Event* event;
  int64_t step;
};

/// The writes of the replica to storage, without directories that it makes, and without TensorFlow
/// summaries, which are not checkpoints. A rename is a write only if nothing else of the run had
/// written what it moves. `boot` 0: all boots. `replica` "": of all replicas.
std::vector<ReplicaWrite> WritesOf(const CheckRun& run, const std::string& replica, int boot = 0);
/// The steps that the replica reported, in order. `boot` 0: all boots.
std::vector<ReplicaStep> StepsOf(const CheckRun& run, const std::string& replica, int boot = 0);
/// The writes of all replicas that are saves, and not results or configurations: between the first
/// step and the last one. For trainers that report no steps, those before the last tenth of the
/// run, and in it those that the replica saves again: under the same name or, after further lines
/// of output, under one that differs in numbers only.
std::vector<ReplicaWrite> SavesOf(const CheckRun& plain);
/// Whether the replica wrote in that boot something else than a configuration before its first step
/// and an unfinished file, which still has a temporary name.
bool SavesSomething(const CheckRun& run, const std::string& replica, int boot);

}  // namespace caip::harness
