#pragma once
// The order of the runs of an exploration: several at once, or one alone.

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>

namespace caip::explore {

/// Lets runs go on at the same time, except for those that must be alone. Any thread.
class RunTurns {
 public:
  /// Waits until the run may begin, and returns its number. `alone`: until no other run goes on,
  /// and before all that have not begun yet. None begins before it ends.
  size_t Begin(bool alone);
  /// Returns whether another run went on at some time since Begin.
  bool End(size_t number);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<size_t, bool> had_company_;  // of the runs that go on, by number
  size_t waiting_ = 0;                  // runs that must be alone
  bool is_alone_ = false;               // the only run that goes on
  size_t begun_ = 0;
};

}  // namespace caip::explore
