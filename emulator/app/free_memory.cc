#include "emulator/app/free_memory.h"

#include <malloc.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

namespace caip::app {
namespace {

constexpr int kOwnMapping = 4 << 20;    // bytes of a block
constexpr int kFreeEndMax = 8 << 20;    // bytes of a heap, while the process works
constexpr size_t kEndBlock = 96 << 10;  // glibc checks the heap's end when 64 KiB or more are freed

std::atomic<int> heaps{0};  // that threads share; 0: ShareHeaps() was not called

struct EndThreads {
  std::counting_semaphore<> attached{0};
  std::mutex gate;
};

// Takes a heap, keeps it until all threads have theirs, and then frees a large block.
void* ReturnEnd(void* all) {
  auto& threads = *static_cast<EndThreads*>(all);
  void* volatile block = std::malloc(kEndBlock);
  threads.attached.release();
  threads.gate.lock();
  threads.gate.unlock();
  std::free(block);
  return nullptr;
}

// glibc returns the free end of a heap, but for 128 KiB, when a thread that uses it frees a large
// block, if the end exceeds the limit. A new thread gets a heap that no thread has. If there is
// none, it makes one. With the last possible heap made, new threads get all of them in turn. So
// twice as many threads as heaps, at the same time, reach each heap.
void ReturnEnds() {
  EndThreads all;
  std::vector<pthread_t> threads;
  std::unique_lock gate(all.gate);
  ::mallopt(M_TRIM_THRESHOLD, 0);
  for (int i = 0; i < 2 * heaps; ++i) {
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, ReturnEnd, &all) != 0)
      break;  // the next call tries again
    threads.push_back(thread);
    all.attached.acquire();
  }
  gate.unlock();
  for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
  ::mallopt(M_TRIM_THRESHOLD, kFreeEndMax);
}

}  // namespace

void ShareHeaps(int count) {
  heaps = count;
  ::mallopt(M_ARENA_MAX, count);
  ::mallopt(M_MMAP_THRESHOLD, kOwnMapping);
  ::mallopt(M_TRIM_THRESHOLD, kFreeEndMax);
}

int HeapsOfThisHost() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, kHeapsMax);
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
  if (works || has_worked_) {
    ::malloc_trim(0);
    if (heaps > 0) ReturnEnds();
  }
  has_worked_ = works;
}

}  // namespace caip::app
