#pragma once
// The restarts that an exploration tries, and their order.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/explore/exploring_tasks.h"

namespace caip::explore {

/// Equal for tasks that are alike but for numbers: "after create ckpt-#/weights by master-#".
std::string KindOf(const ExploreTask& task);

/// Tasks in the order in which they are tried. For one thread.
class TaskList {
 public:
  /// Adds each state of storage once, at the first crash point with it, which shows the write.
  /// `first`: the restart in `run`, if any.
  void AddRecorded(const RecordedRun& run, const std::optional<harness::CrashPoint>& first);
  /// Adds whole runs. A point just before an operation equals the point after the operation before
  /// it, unless the replica did something in between. Second restarts by which all memory is lost
  /// at once are equal if nothing changed in between, in storage or on the disk.
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
  /// all kinds in turn, towards each other replica and storage in turn, so that each kind meets
  /// each of them in the long run. The second fault concerns storage.
  void AddNetworkFaults(const RecordedRun& run, size_t most);
  /// Keeps at most `most` of the tasks from index `from` on, the most different ones. Returns how
  /// many there were.
  size_t ThinOut(size_t from, size_t most);
  /// Keeps one of the tasks from index `from` on. Consecutive turns, from 0 on, take other kinds of
  /// points and other places in lists of equal length. The states of the others may be added again.
  void KeepOne(size_t from, size_t turn);
  /// The indices from `from` on, so that one of many alike comes before the others.
  std::vector<size_t> MostDifferentFirst(size_t from) const;

  size_t size() const { return tasks_.size(); }
  /// The indices of at most `most` tasks with one restart by the loss of a machine, evenly
  /// distributed. `with_kept`: also those by a killed process, whose disk is kept.
  std::set<size_t> SampleOfSingles(size_t most, bool with_kept) const;
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
