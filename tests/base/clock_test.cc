#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace caip {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(VirtualClock, LeapsToTheDeadlineWithoutWaiting) {
  VirtualClock clock(Instant(seconds(1000)));
  clock.WaitUntil(clock.Now() + hours(20));
  EXPECT_EQ(clock.Now(), Instant(seconds(1000) + hours(20)));
}

TEST(VirtualClock, AnInterruptBeforeTheWaitEndsItAtOnce) {
  VirtualClock clock(Instant(seconds(1000)));
  clock.Interrupt();
  clock.WaitUntil(clock.Now() + hours(20));
  EXPECT_EQ(clock.Now(), Instant(seconds(1000)));
}

TEST(LeapClock, LeapsWhenNobodyHoldsIt) {
  LeapClock clock;
  const Instant start = clock.Now();
  clock.WaitUntil(start + minutes(20));
  EXPECT_GE(clock.Now() - start, minutes(20));
  EXPECT_LT(clock.Now() - start, minutes(21));
}

TEST(LeapClock, ShowsNoTimeBeforeTheOneThatItAdvancedTo) {
  LeapClock clock;
  const Instant later = clock.Now() + hours(1);
  clock.AdvanceTo(later);
  EXPECT_GE(clock.Now(), later);
  clock.AdvanceTo(later - minutes(30));
  EXPECT_GE(clock.Now(), later) << "it never goes back";
}

TEST(LeapClock, RunsAsTheWallDoesWhileHeld) {
  LeapClock clock;
  clock.Hold();
  const Instant start = clock.Now();
  std::thread other([&] { clock.Interrupt(); });
  clock.WaitUntil(start + hours(20));
  other.join();
  EXPECT_LT(clock.Now() - start, minutes(1));
}

TEST(LeapClock, MayLeapAgainOnceReleased) {
  LeapClock clock;
  clock.Hold();
  const Instant start = clock.Now();
  std::thread waiter([&] {
    while (clock.Now() < start + hours(1)) clock.WaitUntil(start + hours(1));
  });
  clock.Release();
  waiter.join();
  EXPECT_GE(clock.Now() - start, hours(1));
}

}  // namespace
}  // namespace caip
