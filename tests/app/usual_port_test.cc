#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/app/listener.h"

namespace caip::app {
namespace {

TEST(UsualPort, IsTheSameForEveryNewStateDirectory) {
  TemporaryDirectory state;
  const auto ports = PortsToTry(state.path());
  EXPECT_EQ(ports[0], 2247);
  EXPECT_EQ(ports[1], 2248);
  EXPECT_EQ(ports.back(), 0);
}

TEST(UsualPort, IsTheOneOfTheTimeBefore) {
  TemporaryDirectory state;
  ASSERT_TRUE(RememberPort(state.path(), 2250).ok());
  const auto ports = PortsToTry(state.path());
  EXPECT_EQ(ports[0], 2250);
  EXPECT_EQ(ports[1], 2247);
  EXPECT_EQ(std::count(ports.begin(), ports.end(), 2250), 1);
}

TEST(UsualPort, DoesNotComeFromNonsense) {
  TemporaryDirectory state;
  for (const char* text : {"", "abc", "99999", "-1", "2250x"}) {
    ASSERT_TRUE(WriteFile(state.path() / "port", text).ok());
    EXPECT_EQ(PortsToTry(state.path())[0], 2247) << text;
  }
}

}  // namespace
}  // namespace caip::app
