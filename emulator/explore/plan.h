#pragma once
// Which interruptions an exploration tries, and in which order.

#include <map>
#include <set>
#include <string>

#include "emulator/explore/exploring.h"
#include "emulator/explore/task_list.h"

namespace caip::explore {

/// For one thread, except for reading while nothing is added.
class Plan {
 public:
  explicit Plan(const ExploreOptions& options) : options_(options) {}

  /// Adds the interruptions of the baseline run. `use_record`: a loss of the machine is a recovery
  /// from recorded buckets.
  void AddSingles(const RecordedRun& baseline, bool use_record);
  /// Adds second restarts in these recoveries, by the index of their task, until each has caught
  /// up: one in each, at different parts of them, unless all are asked for. Removes the other crash
  /// points of the recoveries.
  void AddPairs(std::map<size_t, RecordedRun>& recoveries);

  const TaskList& tasks() const { return tasks_; }
  /// Whether the recovery of the task gets a second restart.
  bool Deepens(size_t task) const { return deepened_.contains(task); }
  /// "reduced to 400 of 612 points (--max-points)"; "" if all are in the plan.
  const std::string& reduced() const { return reduced_; }

 private:
  void AddKeptSample(const RecordedRun& baseline, size_t most);
  void AddSamples(const RecordedRun& baseline);
  void AddFullDisks(const RecordedRun& baseline);
  void AddNetworkSample(const RecordedRun& baseline);
  void AddPowerLossSample(const RecordedRun& baseline, bool use_record);
  void AddKept(const RecordedRun& run, size_t most);
  size_t FailureSample(const RecordedRun& baseline) const;
  size_t KeptSample() const;
  size_t PairsSample() const;
  void ChooseDeepened();
  void ThinOut(size_t from, size_t most, const std::string& what);

  const ExploreOptions& options_;
  TaskList tasks_;
  std::set<size_t> deepened_;
  std::string reduced_;
};

/// The points at which a program may fail with something that it has stored, the most useful ones
/// first: after a few steps of each replica, but not its last one, and after its last change in
/// storage. Without steps, after changes. `replicas`: only these; empty: all.
std::vector<harness::CrashPoint> FailurePoints(const harness::Evidence& baseline,
                                               const std::set<std::string>& replicas);

/// Fails if the scenario cannot have the faults that the options ask for.
Status CheckFaults(const harness::Scenario& scenario, const ExploreOptions& options);

/// Whether the baseline runs report the changes of replicas' disks.
bool WatchesDisks(const ExploreOptions& options);

/// Fails if a job with these replicas cannot have the faults that the options ask for, or if the
/// options name another replica. `writes_files`: into directories that are kept, or to a disk.
Status CheckReplicas(const std::set<std::string>& all, bool writes_files,
                     const ExploreOptions& options);

}  // namespace caip::explore
