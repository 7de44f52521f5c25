#pragma once
// Where in its training the trainer's master is asked to end, and what it had done by then.

#include <optional>
#include <string>
#include <vector>

#include "harness/check/check_run.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// "master-0", of a tuning job's first trial "master-0/1".
std::string MasterOf(const CheckRun& run);

/// Behind a step in the middle of the training, with something saved before it if anything is;
/// of trainers that report no steps behind a write. nullopt: there is no such moment.
std::optional<CrashPoint> FindMiddle(const CheckRun& plain);

/// A write of a replica, and its line in the event list.
struct ReplicaWrite {
  const Event* event;
  std::string object;
};
/// A step that a replica reported, and its line in the event list.
struct ReplicaStep {
  const Event* event;
  int64_t step;
};

/// What the replica wrote to storage and stayed: no TensorFlow summaries, which are no checkpoints.
/// `boot` 0: all boots.
std::vector<ReplicaWrite> WritesOf(const CheckRun& run, const std::string& replica, int boot = 0);
/// The steps that the replica reported, in order. `boot` 0: all boots.
std::vector<ReplicaStep> StepsOf(const CheckRun& run, const std::string& replica, int boot = 0);
/// Those writes that are no result of the end: before the last step, or, of trainers that report no
/// steps, not in the last tenth of the run.
std::vector<ReplicaWrite> SavesOf(const CheckRun& plain);

}  // namespace caip::harness
