#include "emulator/app/attach/stop_deadline.h"

#include <gtest/gtest.h>

#include <future>

namespace caip::app {
namespace {

TEST(StopDeadline, EndsAProcessWhosePartsDoNotEnd) {
  const auto hang = [] {
    const StopDeadline deadline(7);
    std::promise<void>().get_future().wait();  // never
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(7), "");
}

TEST(StopDeadline, DoesNothingOnceAllPartsHaveEnded) {
  const auto end = [] {
    { const StopDeadline deadline(7); }
    std::_Exit(3);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace caip::app
