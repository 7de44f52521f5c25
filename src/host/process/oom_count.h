#pragma once
// How many processes the kernel has killed for want of memory.

#include <chrono>
#include <cstdint>
#include <functional>

namespace caip::host {

class OomCount {
 public:
  /// Empty: asks the kernel.
  explicit OomCount(std::function<int64_t()> asked) : asked_(std::move(asked)) {}

  /// Any thread.
  int64_t Now() const;
  /// Of some milliseconds ago at the most: the kernel gathers the numbers from all processors each
  /// time, and a cluster that starts shall ask once. One thread.
  int64_t Lately();

 private:
  std::function<int64_t()> asked_;
  int64_t count_ = 0;
  std::chrono::steady_clock::time_point read_{};
};

}  // namespace caip::host
