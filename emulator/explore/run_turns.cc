#include "emulator/explore/run_turns.h"

namespace caip::explore {

size_t RunTurns::Begin(bool alone) {
  std::unique_lock lock(mutex_);
  if (alone) {
    ++waiting_;
    changed_.wait(lock, [this] { return had_company_.empty(); });
    --waiting_;
    is_alone_ = true;
  } else {
    changed_.wait(lock, [this] { return !is_alone_ && waiting_ == 0; });
  }
  const bool has_company = !had_company_.empty();
  if (has_company) {
    for (auto& entry : had_company_) entry.second = true;
  }
  had_company_[++begun_] = has_company;
  return begun_;
}

bool RunTurns::End(size_t number) {
  const std::lock_guard lock(mutex_);
  const bool had_company = had_company_.at(number);
  had_company_.erase(number);
  is_alone_ = false;  // a run that is alone ends before another one begins
  changed_.notify_all();
  return had_company;
}

}  // namespace caip::explore
