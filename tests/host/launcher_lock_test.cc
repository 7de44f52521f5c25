#include "host/process/launcher_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::host {
namespace {

using ::testing::HasSubstr;

TEST(LauncherLock, IsNotAwaitedAfterAnInterrupt) {
  const TemporaryDirectory state;
  const auto held = LockForLaunchers(state.path());
  ASSERT_TRUE(held.ok()) << held.error().message;
  int looks = 0;
  const auto lock =
      LockForLaunchers(state.path(), std::chrono::hours(1), [&] { return ++looks == 3; });
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().code, Code::kCancelled);
  EXPECT_THAT(lock.error().message, HasSubstr("launcher.lock'"));
  EXPECT_EQ(looks, 3);
}

TEST(LauncherLock, IsTakenAfterAnInterruptIfItIsFree) {
  const TemporaryDirectory state;
  EXPECT_TRUE(LockForLaunchers(state.path(), kLauncherPatience, [] { return true; }).ok());
}

}  // namespace
}  // namespace caip::host
