#include "emulator/app/free_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have their own heaps

namespace caip::app {
namespace {

constexpr size_t kBlock = 8 << 10;
constexpr size_t kBlocks = 8'000;
constexpr size_t kEndBlock = 90 << 10;
constexpr int kEndBlocks = 8;
constexpr int kHeaps = 4;

int64_t OwnKibibytes() {
  std::ifstream status("/proc/self/status");
  std::string field;
  int64_t value = 0;
  while (status >> field) {
    if (field == "RssAnon:" && status >> value) return value;
  }
  return -1;
}

// Memory with free blocks between used ones, which glibc keeps.
class FreeMemoryTest : public ::testing::Test {
 protected:
  FreeMemoryTest() {
    for (size_t i = 0; i < kBlocks; ++i) blocks_.emplace_back(kBlock, 'x');
    for (size_t i = 0; i < kBlocks; ++i) {
      if (i % 8 != 7) std::string().swap(blocks_[i]);
    }
  }

  std::vector<std::string> blocks_;
};

TEST_F(FreeMemoryTest, GoesBackToTheSystem) {
  const int64_t before = OwnKibibytes();
  FreeMemory([] { return FreeMemory::kWork; }).GiveBack();
  EXPECT_LT(OwnKibibytes(), before - int64_t{kBlocks * kBlock / 1024 / 2});
  for (size_t i = 7; i < kBlocks; i += 8) ASSERT_EQ(blocks_[i], std::string(kBlock, 'x'));
}

TEST_F(FreeMemoryTest, StaysUntilTheProcessHasWorked) {
  Duration used = FreeMemory::kWork - Duration(1);
  FreeMemory memory([&] { return used; });
  const int64_t before = OwnKibibytes();
  memory.GiveBack();
  EXPECT_GT(OwnKibibytes(), before - 1024);
  used += Duration(1);
  memory.GiveBack();
  EXPECT_LT(OwnKibibytes(), before - int64_t{kBlocks * kBlock / 1024 / 2});
}

TEST_F(FreeMemoryTest, GoesBackOnceMoreWhenTheWorkIsOver) {
  FreeMemory memory([] { return FreeMemory::kWork; });
  memory.GiveBack();
  for (size_t i = 7; i < kBlocks; i += 16) std::string().swap(blocks_[i]);
  const int64_t before = OwnKibibytes();
  memory.GiveBack();
  EXPECT_LT(OwnKibibytes(), before - int64_t{kBlocks * kBlock / 1024 / 32});
  for (size_t i = 15; i < kBlocks; i += 32) std::string().swap(blocks_[i]);
  const int64_t after = OwnKibibytes();
  memory.GiveBack();
  EXPECT_GT(OwnKibibytes(), after - 1024);
}

// How much GiveBack() gives back that malloc_trim() did not, in KiB. Each thread frees less than
// what glibc keeps at the end of a heap. Half of the threads have ended by then.
int64_t GivenBackFromEnds() {
  ShareHeaps(kHeaps);
  constexpr int kThreads = 2 * kHeaps;
  std::barrier all(kThreads);
  std::barrier living(kThreads / 2 + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::string> blocks;
      blocks.reserve(kEndBlocks);
      all.arrive_and_wait();  // each has a heap
      for (int k = 0; k < kEndBlocks; ++k) blocks.emplace_back(kEndBlock, 'x');
      all.arrive_and_wait();
      while (!blocks.empty()) blocks.pop_back();  // the last one first
      if (i % 2 == 0) return;
      living.arrive_and_wait();
      living.arrive_and_wait();
    });
  }
  living.arrive_and_wait();
  for (int i = 0; i < kThreads; i += 2) threads[i].join();
  ::malloc_trim(0);
  const int64_t before = OwnKibibytes();
  FreeMemory([] { return FreeMemory::kWork; }).GiveBack();
  const int64_t after = OwnKibibytes();
  living.arrive_and_wait();
  for (int i = 1; i < kThreads; i += 2) threads[i].join();
  return before - after;
}

// In a process of its own, in which no thread had a heap before. There are three ends:
// malloc_trim() returns the one of the first heap.
TEST(FreeEndsTest, GoBackFromTheHeapsOfThreads) {
  constexpr int64_t kEndsOfTwo = 2 * kEndBlocks * kEndBlock / 1024;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(GivenBackFromEnds() > kEndsOfTwo ? 0 : 1), ::testing::ExitedWithCode(0),
              "");
}

int CountHeaps() {
  char* text = nullptr;
  size_t size = 0;
  FILE* const file = ::open_memstream(&text, &size);
  ::malloc_info(0, file);
  std::fclose(file);
  const std::string info(text, size);
  std::free(text);
  int count = 0;
  for (size_t at = 0; (at = info.find("<heap nr=", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(ShareHeapsTest, HasNoHeapForEachThread) {
  const int processors = std::max<int>(std::thread::hardware_concurrency(), 2);
  const int before = CountHeaps();
  ShareHeaps();
  std::barrier all(processors * 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < processors * 4; ++i) {
    threads.emplace_back([&all] {
      const auto held = std::make_unique<std::string>(kBlock, 'x');
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(CountHeaps(), std::max(before, processors));
}

}  // namespace
}  // namespace caip::app

#endif
