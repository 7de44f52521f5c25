// The two rules of early stopping, and the Pareto set.

#include "tuning/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tuning/trial.h"

namespace caip::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// A value each ten steps and each minute.
Curve CurveOf(const std::vector<double>& values) {
  Curve curve;
  for (const double value : values) {
    const auto index = static_cast<int64_t>(curve.size()) + 1;
    curve.push_back({index * 10, std::chrono::minutes(index), value});
  }
  return curve;
}

StopAdvice Median(Goal goal, const Curve& pending, const std::vector<Curve>& completed) {
  return AdviseByMedian(goal, Progress::kSteps, pending, completed);
}

TEST(MedianRule, WeighsTheBestAgainstRunningAverages) {
  // Running averages up to step 20: 0.5, 0.6, 0.3; their median is 0.5.
  const std::vector<Curve> completed = {CurveOf({0.4, 0.6, 0.9}), CurveOf({0.6, 0.6}),
                                        CurveOf({0.2, 0.4, 0.5, 0.6})};
  const struct {
    std::vector<double> pending;
    bool stop;
  } cases[] = {
      {{0.4, 0.49}, true}, {{0.49, 0.1}, true},           {{0.4, 0.5}, false},
      {{0.9, 0.1}, false}, {{kNoValue, 0.49, 0.2}, true},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(Median(Goal::kMaximize, CurveOf(each.pending), completed).stop, each.stop)
        << each.pending[0];
  }
}

TEST(MedianRule, SaysValueMedianAndStep) {
  const StopAdvice advice =
      Median(Goal::kMinimize, CurveOf({3, 2.5}), {CurveOf({2, 1}), CurveOf({2, 2})});
  EXPECT_TRUE(advice.stop);
  EXPECT_EQ(advice.value, 2.5);
  EXPECT_EQ(advice.bar, 1.75);
  EXPECT_EQ(advice.step, 20);
  EXPECT_EQ(advice.why,
            "The best objective value 2.5 up to step 20 is worse than 1.75, the median of the "
            "running averages of 2 completed trials.");
}

TEST(MedianRule, ATrialThatBeginsAgainKeepsItsBestAndHowFarItGot) {
  Curve pending = CurveOf({0.4, 0.9});
  pending.push_back({10, std::chrono::minutes(1), 0.1});  // its machine was lost after step 20
  const StopAdvice advice = Median(Goal::kMaximize, pending, {CurveOf({0.5, 0.5})});
  EXPECT_FALSE(advice.stop);
  EXPECT_EQ(advice.value, 0.9);
  EXPECT_EQ(advice.step, 20);
}

TEST(MedianRule, GoesByElapsedTimeWhereAsked) {
  Curve fast = CurveOf({1, 1});
  for (Report& report : fast) report.elapsed = std::chrono::seconds(report.step);
  const std::vector<Curve> completed = {CurveOf({2, 2})};  // nothing before a minute is over
  EXPECT_TRUE(AdviseByMedian(Goal::kMaximize, Progress::kSteps, fast, completed).stop);
  const StopAdvice advice =
      AdviseByMedian(Goal::kMaximize, Progress::kElapsedTime, fast, completed);
  EXPECT_FALSE(advice.stop);
  EXPECT_THAT(advice.why, HasSubstr("No completed trial has reported up to"));
}

TEST(MedianRule, GoesOnWhereThereIsNothingToCompare) {
  EXPECT_FALSE(Median(Goal::kMaximize, {}, {CurveOf({1})}).stop);
  EXPECT_FALSE(Median(Goal::kMaximize, CurveOf({0}), {}).stop);
  EXPECT_FALSE(Median(Goal::kMaximize, CurveOf({0}), {{}, CurveOf({kNoValue})}).stop);
  EXPECT_FALSE(Median(Goal::kMaximize, CurveOf({kNoValue}), {CurveOf({1})}).stop);
}

std::vector<Curve> FiveThatDouble() {
  std::vector<Curve> completed;
  for (const double start : {1.0, 2.0, 3.0, 4.0, 5.0}) {
    completed.push_back(CurveOf({start, start * 1.5, start * 2 + (start > 3 ? 0.1 : -0.1)}));
  }
  return completed;
}

TEST(DecayCurveRule, StopsWhatCannotCatchUp) {
  const auto advise = [](double value) {
    return AdviseByDecayCurve(Goal::kMaximize, Progress::kSteps, CurveOf({value}),
                              FiveThatDouble());
  };
  const StopAdvice low = advise(2);
  EXPECT_TRUE(low.stop) << low.why;
  EXPECT_NEAR(*low.value, 4, 0.2);
  EXPECT_EQ(low.bar, 10.1);
  EXPECT_FALSE(advise(5).stop) << "as good as the best";
  EXPECT_FALSE(advise(9).stop);
}

TEST(DecayCurveRule, GoesByTheReportThatGotFurthest) {
  Curve pending = CurveOf({1, 5, 7.5});
  const StopAdvice before =
      AdviseByDecayCurve(Goal::kMaximize, Progress::kSteps, pending, FiveThatDouble());
  pending.push_back({10, std::chrono::minutes(1), 0.1});
  const StopAdvice again =
      AdviseByDecayCurve(Goal::kMaximize, Progress::kSteps, pending, FiveThatDouble());
  EXPECT_EQ(again.value, before.value);
  EXPECT_EQ(again.step, 30);
}

TEST(DecayCurveRule, WantsFiveTrials) {
  std::vector<Curve> completed = FiveThatDouble();
  completed.pop_back();
  const StopAdvice advice =
      AdviseByDecayCurve(Goal::kMaximize, Progress::kSteps, CurveOf({0}), completed);
  EXPECT_FALSE(advice.stop);
  EXPECT_THAT(advice.why, HasSubstr("Only 4 of the 5"));
}

TEST(DecayCurveRule, HoldsWhereAllReportTheSame) {
  const std::vector<Curve> completed(6, CurveOf({1, 1}));
  EXPECT_TRUE(AdviseByDecayCurve(Goal::kMaximize, Progress::kSteps, CurveOf({1}), completed).stop)
      << "it cannot be better, only as good";
  EXPECT_FALSE(
      AdviseByDecayCurve(Goal::kMaximize, Progress::kSteps, CurveOf({kNoValue}), completed).stop);
}

TEST(ParetoSet, HasWhatNothingElseBeats) {
  const std::vector<Goal> goals = {Goal::kMaximize, Goal::kMinimize};
  EXPECT_THAT(ParetoSet(goals, {{1, 1}, {2, 2}, {2, 3}, {0, 0.5}, {0, 1}, {kNoValue, 0}}),
              ElementsAre(0, 1, 3));
  EXPECT_THAT(ParetoSet({Goal::kMinimize}, {{3}, {1}, {2}, {1}}), ElementsAre(1, 3));
  EXPECT_THAT(ParetoSet(goals, {}), IsEmpty());
}

}  // namespace
}  // namespace caip::tuning
