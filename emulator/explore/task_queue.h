#pragma once
// Hands the tasks of an exploration to its workers, and leaves out those that would only wait for a
// limit again.

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulator/explore/exploring_tasks.h"
#include "emulator/explore/task_list.h"

namespace caip::explore {

/// Tasks of one kind and of the same replicas that were left out. Indices of tasks.
struct LeftOutKind {
  std::string cause;             // of the limit that ended those like them
  std::vector<size_t> tasks;     // that were left out
  std::vector<size_t> shown_by;  // that were tried and ended by it
};

/// For many threads. Which tasks are left out depends on the order of the tasks and on their
/// outcomes, and not on time or on the number of workers.
class TaskQueue {
 public:
  /// Hands out the tasks in `order`, which are indices of `tasks`, but those of each kind from far
  /// apart. `tries_all`: none is left out.
  TaskQueue(const TaskList& tasks, const std::vector<size_t>& order, bool tries_all);

  /// The next task to try. Waits if other workers try those on which it depends. nullopt: none is
  /// left. The caller passes each task to Settle, or calls Stop.
  std::optional<size_t> Next();
  /// `outcome`: null if the task has none, because of an error. A task that is settled before Next
  /// returns it is not tried.
  void Settle(size_t task, const ExploreOutcome* outcome);
  /// From now on Next returns nullopt.
  void Stop();

  /// After the last Next.
  std::vector<LeftOutKind> LeftOut() const;

 private:
  enum class State { kOpen, kTried, kSettled };
  /// Tasks of the same replicas that are alike but for numbers (KindOf), in their order.
  struct Kind {
    std::vector<size_t> places;
    size_t settled = 0;  // from the first one on
    std::string ended;   // the cause that all the rest would show; "": they are tried
    std::vector<size_t> left_out;
  };
  struct Entry {
    size_t task = 0;
    size_t kind = 0;
    size_t rank = 0;  // in its kind
    State state = State::kOpen;
    std::string limit;  // the cause, if a limit ended the job
  };

  void SpreadTasks(const Kind& kind);
  bool IsReady(const Entry& entry) const;
  bool IsLeftOut(const Entry& entry);
  void SettleLocked(size_t place);
  std::string CauseOfMost(const Kind& kind, size_t first_ones) const;

  const bool tries_all_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
  std::vector<Entry> entries_;
  std::vector<Kind> kinds_;
  std::map<size_t, size_t> places_;  // of tasks in `entries_`
};

}  // namespace caip::explore
