#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/faults/machine_lifetime.h"
#include "harness/scenario/preemption_cost.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(MachineLifetime, HasTwoModels) {
  const auto constant = ParseMachineLifetime("constant:20m");
  ASSERT_TRUE(constant.ok());
  Random random(1);
  EXPECT_EQ(Draw(*constant, random), minutes(20));
  for (const char* text : {"exponential:2h", "2h"}) {
    const auto exponential = ParseMachineLifetime(text);
    ASSERT_TRUE(exponential.ok()) << text;
    EXPECT_EQ(exponential->kind, MachineLifetime::Kind::kExponential);
    EXPECT_EQ(exponential->mean, hours(2));
  }
}

TEST(MachineLifetime, OfTheExponentialModelHasItsMean) {
  const auto lifetime = ParseMachineLifetime("exponential:1h");
  ASSERT_TRUE(lifetime.ok());
  Random random(7);
  constexpr int kDraws = 10'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += std::chrono::duration<double>(Draw(*lifetime, random)).count();
  }
  EXPECT_NEAR(sum / kDraws, 3600, 120);
}

TEST(MachineLifetime, EndsWithinTheTimesOfAClock) {
  const MachineLifetime lifetime{.mean = Duration::max()};
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const Duration drawn = Draw(lifetime, random);
    EXPECT_GE(drawn, Duration(0));
    EXPECT_LE(drawn, hours(24 * 365 * 50));
  }
}

TEST(MachineLifetime, MustBeATimeAboveZero) {
  for (const char* text : {"", "20", "constant:", "constant:0", "uniform:1m..2m", "exponential"}) {
    const auto lifetime = ParseMachineLifetime(text);
    ASSERT_FALSE(lifetime.ok()) << text;
    EXPECT_THAT(lifetime.error().message, HasSubstr("constant:20m"));
  }
}

/// Steps 1 to 4, a lost machine after 10 seconds, and steps 3 to 5.
Evidence PreemptedOnce() {
  constexpr char kWorker[] = "workerpool0-0";
  Evidence run;
  const auto add = [&run](int64_t second, Event event) {
    event.time = Instant{} + seconds(second);
    run.events.push_back(std::move(event));
  };
  add(0, State("PREPARING"));
  add(0, Live(kWorker, 1));
  for (int64_t step = 1; step <= 4; ++step) add(step, Step(kWorker, 1, step));
  add(5, {.replica = kWorker, .boot = 1, .body = FaultEvent{"vm_lifetime", "over"}});
  add(5, Exit(kWorker, 1, 0, 9));
  add(5, State("PREPARING"));
  add(65, Live(kWorker, 2));
  for (int64_t step = 3; step <= 5; ++step) add(65 + 2 * (step - 2), Step(kWorker, 2, step));
  return run;
}

TEST(PreemptionCost, CountsWhatIsDoneTwice) {
  const PreemptionCost cost = MeasurePreemptions(PreemptedOnce(), std::nullopt);
  EXPECT_EQ(cost.preemptions, 1);
  EXPECT_EQ(cost.job_restarts, 1);
  EXPECT_EQ(cost.steps, 5);
  EXPECT_EQ(cost.steps_again, 2);
  EXPECT_EQ(cost.again, seconds(4));
  EXPECT_EQ(cost.waited, seconds(60));
}

TEST(PreemptionCost, TakesTheTimeThatAStepStandsFor) {
  const PreemptionCost cost = MeasurePreemptions(PreemptedOnce(), minutes(10));
  EXPECT_EQ(cost.again, minutes(20));
  EXPECT_EQ(Describe(cost),
            "1 preemption, 1 job restart; 5 steps of workerpool0-0 and 2 repetitions; 21m 00s "
            "lost (20m 00s of repeated steps, 1m 00s without a machine)");
}

TEST(PreemptionCost, IsThatOfTheFirstReplicaOfACluster) {
  Evidence run;
  run.events = {Step("workerpool1-0", 1, 1), Step("workerpool1-0", 1, 2),
                Step("workerpool0-0", 1, 1)};
  EXPECT_EQ(MeasurePreemptions(run, minutes(1)).replica, "workerpool0-0");
  EXPECT_FALSE(MeasurePreemptions(run, minutes(1)).without_age);
  run.events.pop_back();
  const PreemptionCost cost = MeasurePreemptions(run, minutes(1));
  EXPECT_EQ(cost.steps, 2);
  EXPECT_THAT(Describe(cost), HasSubstr("no machine aged"));
}

TEST(PreemptionCost, OfARunWithoutStepsIsItsLosses) {
  Evidence run;
  run.events = {{.replica = "workerpool0-0", .boot = 1, .body = FaultEvent{"vm_lifetime", "over"}}};
  const PreemptionCost cost = MeasurePreemptions(run, minutes(1));
  EXPECT_EQ(cost.preemptions, 1);
  EXPECT_EQ(cost.lost(), Duration(0));
}

}  // namespace
}  // namespace caip::harness
