#include "emulator/app/free_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have their own heaps

namespace caip::app {
namespace {

constexpr size_t kBlock = 8 << 10;
constexpr size_t kBlocks = 8'000;

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

}  // namespace
}  // namespace caip::app

#endif
