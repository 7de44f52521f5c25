#include "base/random.h"

#include <gtest/gtest.h>

namespace caip {
namespace {

TEST(Random, ThrowsTheSameOnEveryMachine) {
  Random random(7);
  EXPECT_EQ(random.Next(), 0x63cbe1e459320dd7ULL);
  EXPECT_EQ(Random(7).Hex(10), Random(7).Hex(10));
}

TEST(Random, StaysBelowItsBound) {
  Random random(1);
  int seen[6] = {};
  for (int i = 0; i < 6000; ++i) ++seen[random.Below(6)];
  for (int count : seen) EXPECT_NEAR(count, 1000, 200);
}

TEST(Random, AForkDoesNotDependOnOtherForks) {
  const Random random(1);
  Random queue = random.Fork("queue");
  Random again = random.Fork("queue");
  Random other = random.Fork("restart");
  EXPECT_EQ(queue.Next(), again.Next());
  EXPECT_NE(queue.Next(), other.Next());
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  Random random(3);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = random.Normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

}  // namespace
}  // namespace caip
