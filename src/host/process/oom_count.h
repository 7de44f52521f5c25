#pragma once
// How many processes the kernel has killed because memory ran out.

#include <cstdint>
#include <functional>
#include <utility>

#include "base/stopwatch.h"

namespace caip::host {

class OomCount {
 public:
  /// `ask` counts the kills since the host booted; empty: /proc/vmstat does.
  explicit OomCount(std::function<int64_t()> ask) : ask_(std::move(ask)) {}

  /// Any thread.
  int64_t Now() const;
  /// The count of some milliseconds ago at most: the kernel gathers the numbers from all processors
  /// each time, and a cluster that starts needs to ask only once. One thread.
  int64_t Recent();

 private:
  std::function<int64_t()> ask_;
  int64_t count_ = 0;
  MonotonicTime read_{};
};

}  // namespace caip::host
