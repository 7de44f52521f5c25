#include "emulator/app/free_memory.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <thread>

namespace caip::app {

void ShareHeaps() {
  const unsigned processors = std::thread::hardware_concurrency();  // 0: unknown
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(processors, 2U)));
}

Duration FreeMemory::ProcessorTime() {
  struct timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void FreeMemory::GiveBack() {
  const Duration used = processor_time_();
  const bool works = used - used_ >= kWork;
  if (works) used_ = used;
  if (works || has_worked_) ::malloc_trim(0);
  has_worked_ = works;
}

}  // namespace caip::app
