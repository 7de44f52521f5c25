#pragma once
// The restarts that an exploration tries, in whole runs or from recorded buckets.

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
  size_t begin = 0;                                   // the first event that the log of files has
  std::vector<harness::BegunOperation> begun = {};    // BegunBefore
  std::vector<harness::CrashPoint> points = {};       // their `changes` are indices of states
  std::vector<harness::CrashPoint> disk_points = {};  // changes of replicas' disks
  bool has_remote_storage = true;                     // a network leads to it
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

/// All events of a run. Leaves it without changes of disks, so that its events are comparable with
/// those of runs that do not report them.
std::vector<harness::Event> TakeAllEvents(harness::Evidence& run);

/// Tasks in the order in which they are tried. For one thread.
class TaskList {
 public:
  /// Adds each state of storage once, at the first crash point with it, which shows the write.
  /// `first`: the restart in `run`, if any.
  void AddRecorded(const RecordedRun& run, const std::optional<harness::CrashPoint>& first);
  /// Adds whole runs. A point just before an operation equals the point after the operation before
  /// it, unless the replica did something in between.
  void AddWhole(const RecordedRun& run, const std::optional<harness::CrashPoint>& first,
                const Interruption& what);
  /// Adds failures of the power after at most `most` changes of files, of all kinds, if the files
  /// that they leave are different from those of earlier tasks. Recoveries only.
  void AddPowerLosses(const RecordedRun& run, size_t most);
  /// Adds runs in which storage answers 503 once: instead of each operation, and after each change,
  /// so that its answer is lost.
  void AddStorageErrors(const RecordedRun& run);
  /// Adds at most `most` runs with the interruption after changes in storage, steps and lines.
  void AddAfterActs(const RecordedRun& run, const Interruption& what, size_t most);
  /// Adds at most `most` runs with the interruption after changes in storage, before the answer.
  void AddAtStorage(const RecordedRun& run, const Interruption& what, size_t most);
  /// Adds at most `most` runs with the interruption while a file is written.
  void AddInWrites(const RecordedRun& run, const Interruption& what, size_t most);
  /// Adds at most `most` runs with the interruption at other points than the crash points of the
  /// run.
  void AddAtPoints(const std::vector<harness::CrashPoint>& points, const Interruption& what,
                   size_t most) {
    AddAt(points, what, most);
  }
  /// Adds at most `most` runs with faults of the network after changes in storage, steps and lines:
  /// all kinds in turn, towards each other replica and storage in turn.
  void AddNetworkFaults(const RecordedRun& run, size_t most);
  /// Keeps at most `most` of the tasks from index `from` on, the most different ones. Returns how
  /// many there were.
  size_t ThinOut(size_t from, size_t most);
  /// The indices from `from` on, so that one of many alike comes before the others.
  std::vector<size_t> MostDifferentFirst(size_t from) const;

  size_t size() const { return tasks_.size(); }
  /// The indices of at most `most` tasks with one restart by the loss of a machine, evenly
  /// distributed.
  std::set<size_t> SampleOfSingles(size_t most) const;
  /// Only for the first restart of a run.
  const std::vector<EqualPoint>& equals() const { return equals_; }
  const ExploreTask& operator[](size_t index) const { return tasks_[index]; }

 private:
  void AddAt(const std::vector<harness::CrashPoint>& points, const Interruption& what, size_t most);

  std::vector<ExploreTask> tasks_;
  std::vector<EqualPoint> equals_;
  std::set<std::string> seen_;  // states of storage
};

}  // namespace caip::explore
