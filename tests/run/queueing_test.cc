#include "run/queueing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace caip::run {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

struct Written {
  const char* text;
  DelayModel model;
};
const Written kWritten[] = {
    {"none", NoDelay{}},
    {"constant:20m", ConstantDelay{minutes(20)}},
    {"constant:0", ConstantDelay{}},
    {"constant:1500ms", ConstantDelay{milliseconds(1500)}},
    {"uniform:1m..20m", UniformDelay{minutes(1), minutes(20)}},
    {"uniform:5s..5s", UniformDelay{seconds(5), seconds(5)}},
    {"lognormal:median=5m,sigma=0.8", LognormalDelay{minutes(5), 0.8}},
    {"stock-out:tries=3,every=5m", StockOut{3, minutes(5)}},
    {"stock-out:tries=2,every=1h", StockOut{2, hours(1)}},
};

TEST(DelayModel, IsReadFromItsText) {
  for (const auto& [text, model] : kWritten) {
    const auto read = ParseDelayModel(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, model) << text;
  }
}

TEST(DelayModel, IsWrittenAsItIsRead) {
  for (const auto& [text, model] : kWritten) EXPECT_EQ(Text(model), text);
}

TEST(DelayModel, OrderOfSettingsIsFreeAndEveryHasADefault) {
  EXPECT_EQ(*ParseDelayModel("lognormal:sigma=0.8,median=5m"),
            DelayModel(LognormalDelay{minutes(5), 0.8}));
  EXPECT_EQ(*ParseDelayModel("stock-out:tries=3"), DelayModel(StockOut{3, minutes(5)}));
}

TEST(DelayModel, WhatCannotBeReadIsRefusedWithWhatToWrite) {
  for (const char* text : {"",
                           "nothing",
                           "none:",
                           "constant",
                           "constant:",
                           "constant:20",
                           "constant:-1s",
                           "constant:9999999h",
                           "uniform:1m",
                           "uniform:20m..1m",
                           "uniform:1m..",
                           "lognormal:median=5m",
                           "lognormal:median=5m,sigma=-1",
                           "lognormal:median=5m,sigma=nan",
                           "lognormal:median=5m,sigma=9",
                           "lognormal:median=5m,median=5m",
                           "stock-out:tries=0",
                           "stock-out:tries=4",
                           "stock-out:every=5m",
                           "stock-out:tries=1x",
                           "stock-out:tries=1,x=2"}) {
    const auto read = ParseDelayModel(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("'" + std::string(text) + "'"));
    EXPECT_THAT(read.error().message, HasSubstr("uniform:1m..20m"));
  }
}

TEST(DelayModel, SameSeedThrowsTheSame) {
  for (const auto& [text, model] : kWritten) {
    Random one(7), other(7);
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(Throw(model, one).delay, Throw(model, other).delay) << text;
    }
  }
}

TEST(UniformDelay, StaysWithinItsBoundsAndReachesNearBoth) {
  Random random(3);
  Duration least = hours(1), most{0};
  for (int i = 0; i < 2000; ++i) {
    const Wait wait = Throw(UniformDelay{minutes(1), minutes(20)}, random);
    least = std::min(least, wait.delay);
    most = std::max(most, wait.delay);
  }
  EXPECT_GE(least, minutes(1));
  EXPECT_LE(least, seconds(70));
  EXPECT_LE(most, minutes(20));
  EXPECT_GE(most, minutes(20) - seconds(10));
}

TEST(LognormalDelay, HalfOfTheWaitsAreShorterThanTheMedian) {
  Random random(11);
  std::vector<Duration> waits;
  for (int i = 0; i < 4001; ++i) {
    waits.push_back(Throw(LognormalDelay{minutes(5), 0.8}, random).delay);
  }
  std::nth_element(waits.begin(), waits.begin() + 2000, waits.end());
  EXPECT_GT(waits[2000], minutes(4) + seconds(40));
  EXPECT_LT(waits[2000], minutes(5) + seconds(20));
}

TEST(StockOut, EndsWithoutAMachineAfterTheThirdTry) {
  Random random(1);
  const Wait two = Throw(StockOut{2, minutes(5)}, random);
  EXPECT_FALSE(two.out_of_stock);
  EXPECT_EQ(two.failed_tries, 2);
  EXPECT_EQ(two.delay, minutes(10));
  const Wait three = Throw(StockOut{3, minutes(5)}, random);
  EXPECT_TRUE(three.out_of_stock);
  EXPECT_EQ(three.delay, minutes(15));
}

}  // namespace
}  // namespace caip::run
