#pragma once
// A restart that an exploration tries, in a whole run or from recorded buckets.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/explore/interruption.h"
#include "emulator/scenario/contents/bucket_recorder.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_comparison.h"
#include "harness/files/file_log.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// An interruption to try, or two.
struct ExploreTask {
  harness::CrashPoint point;
  std::optional<harness::CrashPoint> second = {};      // in the recovery of the first
  Interruption what = Interruption::kMachineLost;      // at both points
  bool recorded = false;                               // only the recovery runs, from a state:
  scenario::BucketState begin = {};                    // the buckets
  std::shared_ptr<const harness::FileLog> files = {};  // of the run before; null: there are none
  harness::FileCut cut = {};                           // the moment of it
  std::shared_ptr<const std::vector<harness::Event>> events = {};  // of the run before
  size_t prefix = 0;                                               // how many of them came before
  std::string state = {};                                          // identifies the state
};

/// A crash point with the same state of storage as an earlier task, and so with the same recovery.
struct EqualPoint {
  harness::CrashPoint point;
  std::string state;
};

/// The result of a task.
struct ExploreOutcome {
  std::vector<harness::Flaw> flaws;
  std::optional<int64_t> first_step = {};  // after the last restart
  std::string resumed = {};                // DescribeResumption
};

/// A recorded run, for restarts in it.
struct RecordedRun {
  /// After each change of buckets; empty if they were not recorded.
  std::vector<scenario::BucketState> states = {};
  std::shared_ptr<const harness::FileLog> files = {};  // null: all storage is in buckets
  bool has_directories = false;                        // buckets are among the files
  std::vector<harness::Event> events = {};
  size_t begin = 0;                                 // the first event that the log of files has
  std::vector<harness::BegunOperation> begun = {};  // BegunBefore
  std::vector<harness::CrashPoint> points = {};     // their `changes` are indices of states
  /// All operations of storage, also those at which a restart shows nothing new.
  std::vector<harness::CrashPoint> storage_points = {};
  std::vector<harness::CrashPoint> disk_points = {};  // changes of replicas' disks
  /// Before how many events each change of the disk came; nullopt: not known, or the job has other
  /// replicas, which do not restart.
  std::optional<std::vector<size_t>> disk_changes = {};
  bool has_remote_storage = true;                        // a network leads to it
  std::vector<harness::CrashPoint> failure_points = {};  // at which programs may fail
};

/// The files with which a recorded task begins. `blocks` are those of the runs.
Result<harness::FileTree> FilesOf(const ExploreTask& task, harness::BlockStore& blocks);

/// Names a task. The name is stable, because the progress file has it.
std::string Describe(const ExploreTask& task);

/// The scenario without its faults and expectations.
harness::Scenario WithoutFaults(harness::Scenario scenario);

/// The events before the restart, if recorded.
std::vector<harness::Event> Prefix(const ExploreTask& task);

/// The events before the restart, followed by those of the recovery: one run with a restart.
harness::Evidence JoinRecovery(const ExploreTask& task, harness::Evidence recovery);

/// What the replicas were writing to files when the restart of a recorded task came.
std::vector<harness::BegunOperation> BegunBefore(const ExploreTask& task);

/// The crash points after the restart of `whole`, counted from the beginning of the run, as
/// triggers count.
std::vector<harness::CrashPoint> PointsOfRecovery(const ExploreTask& task,
                                                  const harness::Evidence& whole,
                                                  const harness::PointSelection& selection);

/// How often the trigger of `point` has counted its operation before the restart at `first` without
/// an event of it: the operation before which, or in which, the machine was taken away, and those
/// of files that were open then (`begun`). `glob`: the trigger's, or empty.
int64_t CountedBefore(const harness::CrashPoint& first,
                      const std::vector<harness::BegunOperation>& begun,
                      const harness::CrashPoint& point, const std::string& glob);

/// The first event after the end of the machine that the first restart took away.
size_t BeginOfRecovery(const ExploreTask& task, const harness::Evidence& whole);

/// The scenario with the one or two interruptions of the task as its faults.
harness::Scenario WithRestart(const harness::Scenario& scenario, const ExploreTask& task);

/// The points of a task as they are in a run of it.
struct TaskPoints {
  harness::CrashPoint first;
  std::optional<harness::CrashPoint> second;

  const harness::CrashPoint& last() const { return second ? *second : first; }
};
TaskPoints PointsIn(const ExploreTask& task, const harness::Evidence& run);

/// Whether a restart was not injected because its crash point did not occur in that run.
bool WasMissed(const harness::Evidence& run);

/// The last change in storage before the first step of any replica. A restart after it loses no
/// training.
std::optional<harness::CrashPoint> EarlyPoint(const harness::Baseline& baseline);

/// At most `most` elements, evenly distributed.
template <typename T>
std::vector<T> Thinned(const std::vector<T>& all, size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

/// The crash points of a baseline run at which to restart. With `by_default` the user did not
/// choose their kinds. Then a replica that stores nothing is restarted after some of its steps or,
/// without steps, of its lines.
std::vector<harness::CrashPoint> PointsToTry(const harness::Evidence& baseline,
                                             harness::PointSelection selection, bool by_default);

/// The crash points at changes of replicas' disks, for restarts that keep the disk. Their `events`
/// count no changes of disks. `other`: another run of the same job, for names that differ.
std::vector<harness::CrashPoint> DiskPoints(const std::vector<harness::Event>& run,
                                            const std::vector<harness::Event>& other,
                                            const std::set<std::string>& replicas);

/// Makes changes of the disk crash points like the others.
void MixInDiskPoints(RecordedRun& run);

/// Before how many of these events, without those of disks, each change of a disk came.
std::vector<size_t> DiskChangesIn(const std::vector<harness::Event>& all);

/// All events of a run. Leaves it without changes of disks, so that its events are comparable with
/// those of runs that do not report them.
std::vector<harness::Event> TakeAllEvents(harness::Evidence& run);

}  // namespace caip::explore
