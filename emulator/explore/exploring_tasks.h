#pragma once
// What an exploration tries: a restart, from the beginning or from the buckets as they were.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/scenario/recorder.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_comparison.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// A point that is to be tried.
struct ExploreTask {
  harness::CrashPoint point;
  std::optional<harness::CrashPoint> second = {};  // in the recovery of the first
  bool disk_kept = false;                          // the process dies, its machine stays
  bool recorded = false;                           // only the way back is run, from `begin`
  scenario::BucketState begin = {};                // of recorded ones
  std::vector<harness::Event> prefix = {};         // likewise: what had happened
  std::string state = {};                          // likewise: names the buckets
};

/// A moment that leads to the buckets of a task before it, and so to its recovery.
struct EqualMoment {
  harness::CrashPoint point;
  std::string state;
};

/// What came of it.
struct ExploreOutcome {
  std::vector<harness::Flaw> flaws;
  std::optional<int64_t> first_step;
};

/// A run that was recorded, as restarts in it need it.
struct RecordedRun {
  std::vector<scenario::BucketState> states =
      {};  // behind each change; empty where they were not recorded
  std::vector<harness::Event> events = {};
  std::vector<harness::CrashPoint> points = {};  // their `changes` count the states
};

/// Names a task: the same today and tomorrow.
std::string Describe(const ExploreTask& task);

/// The scenario without its faults and expectations.
harness::Scenario WithoutFaults(harness::Scenario scenario);

/// The recovery's own events behind what was before it: one run with a restart.
harness::Evidence Joined(const ExploreTask& task, harness::Evidence recovery);

/// The moments behind the restart of `whole`. They are counted from the beginning of the whole run,
/// as the triggers of a scenario count.
std::vector<harness::CrashPoint> PointsOfRecovery(const ExploreTask& task,
                                                  const harness::Evidence& whole,
                                                  const harness::PointSelection& selection);

/// The first step that the replica reports in a boot that begins behind so many events.
std::optional<int64_t> FirstStep(const harness::Evidence& run, size_t after,
                                 const std::string& replica);

/// The scenario with the restart of the task (or both) as its faults.
harness::Scenario WithRestart(const harness::Scenario& scenario, const ExploreTask& task);

/// A restart whose moment did not come in that run.
bool WasMissed(const harness::Evidence& run);

/// The last thing that any replica changes before the first step of all: what is restarted behind
/// it has lost no training.
std::optional<harness::CrashPoint> EarlyPoint(const harness::Evidence& baseline);

/// Up to `most` of them, evenly.
template <typename T>
std::vector<T> Thinned(const std::vector<T>& all, size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

/// The crash points of a baseline run that are worth a restart. `by_default`: nobody chose their
/// kinds, and a replica that stores nothing is restarted behind some of its steps, or else of its
/// lines.
std::vector<harness::CrashPoint> PointsToTry(const harness::Evidence& baseline,
                                             harness::PointSelection selection, bool by_default);

/// Tasks in the order in which they are tried. One thread.
class TaskList {
 public:
  /// Each state of the buckets once, by the first moment that leads to it: it shows what was
  /// written. `first`: the restart that `run` has, if any.
  void AddRecorded(const RecordedRun& run, const std::optional<harness::CrashPoint>& first);
  /// Whole runs. A moment just before an operation is the one behind the operation before, unless
  /// the replica did something in between.
  void AddWhole(const RecordedRun& run, const std::optional<harness::CrashPoint>& first,
                bool disk_kept);
  /// Of those behind the first `from`, at most so many stay, evenly. How many there were.
  size_t ThinOut(size_t from, size_t most);

  size_t size() const { return tasks_.size(); }
  /// Of first restarts.
  const std::vector<EqualMoment>& equals() const { return equals_; }
  const ExploreTask& operator[](size_t index) const { return tasks_[index]; }

 private:
  std::vector<ExploreTask> tasks_;
  std::vector<EqualMoment> equals_;
  std::set<std::string> seen_;  // states of the buckets
};

}  // namespace caip::explore
