#pragma once
// The heaps of a process that runs for days, and memory that it has freed and glibc still keeps.

#include <functional>

#include "base/clock.h"

namespace caip::app {

inline constexpr int kHeapsMax = 16;

/// As many as the host has processors, from two to kHeapsMax.
int HeapsOfThisHost();

/// Lets the threads of the process share `count` heaps. glibc gives each thread its own, up to
/// eight for each processor, and objects that live long then keep pages in all of them. Fixes how
/// large a block must be to have its own mapping, and how much may stay free at the end of a heap:
/// glibc raises them, the latter up to 64 MiB, with the largest block that was freed. To be called
/// before the first thread starts.
/// (https://www.gnu.org/software/libc/manual/html_node/Malloc-Tunable-Parameters.html, M_ARENA_MAX,
/// M_MMAP_THRESHOLD, M_TRIM_THRESHOLD)
void ShareHeaps(int count = HeapsOfThisHost());

/// Gives free memory back to the system. glibc itself returns only what is free at the end of its
/// heaps, so that after some minutes of mixed work a quarter of the process would be such memory.
/// Its malloc_trim() does the opposite: of all heaps but the first it returns everything except the
/// end. The ends are given back only after ShareHeaps(). One thread.
class FreeMemory {
 public:
  /// After so much time it is worth a call.
  static constexpr Duration kBetween = std::chrono::seconds(10);
  /// With more processor time since the last call, the process has worked.
  static constexpr Duration kWork = std::chrono::milliseconds(20);

  /// `processor_time`: what the process has used since its start.
  explicit FreeMemory(std::function<Duration()> processor_time = ProcessorTime)
      : processor_time_(std::move(processor_time)) {}

  /// Gives memory back if the process has worked since the last call, and once more at the call
  /// after that: to free memory at the end of the work takes too little time to count as work. It
  /// takes about 1 ms with two heaps and 4 ms with 16. Other threads may wait for memory meanwhile.
  void GiveBack();

 private:
  static Duration ProcessorTime();

  std::function<Duration()> processor_time_;
  Duration used_{0};         // processor time at the last call after work
  bool has_worked_ = false;  // between the last two calls
};

}  // namespace caip::app
