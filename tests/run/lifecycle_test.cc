#include "run/lifecycle.h"

#include <gtest/gtest.h>

#include <set>

namespace caip::run {
namespace {

using enum JobState;

// The table once more, drawn as a person reads it: one row a state, one column an event.
// "-" does not apply.
struct Row {
  JobState from;
  std::optional<JobState> scheduled, replicas_up, retried, cancel_asked, succeeded, gave_up,
      stopped;
};
constexpr auto kNo = std::nullopt;
const Row kExpected[] = {
    {kUnspecified, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
    {kQueued, kPreparing, kNo, kNo, kCancelling, kNo, kFailed, kNo},
    {kPreparing, kNo, kRunning, kPreparing, kCancelling, kNo, kFailed, kNo},
    {kRunning, kNo, kNo, kPreparing, kCancelling, kSucceeded, kFailed, kNo},
    {kSucceeded, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
    {kFailed, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
    {kCancelling, kNo, kNo, kNo, kNo, kSucceeded, kFailed, kCancelled},
    {kCancelled, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
};

TEST(Lifecycle, EveryPairOfStateAndEventLeadsWhereTheTableSays) {
  ASSERT_EQ(std::size(kExpected), std::size(kJobStates));
  for (const Row& row : kExpected) {
    const std::optional<JobState> expected[] = {row.scheduled,    row.replicas_up, row.retried,
                                                row.cancel_asked, row.succeeded,   row.gave_up,
                                                row.stopped};
    ASSERT_EQ(std::size(expected), std::size(kJobEvents));
    for (size_t i = 0; i < std::size(kJobEvents); ++i) {
      EXPECT_EQ(Next(row.from, kJobEvents[i]), expected[i])
          << "state " << static_cast<int>(row.from) << ", event " << Name(kJobEvents[i]);
    }
  }
}

TEST(Lifecycle, AFinishedJobNeverMoves) {
  for (JobState state : kJobStates) {
    if (!IsTerminal(state)) continue;
    for (JobEvent event : kJobEvents) EXPECT_EQ(Next(state, event), kNo) << Name(event);
  }
}

TEST(Lifecycle, EveryStateOfAJobCanBeReachedFromQueued) {
  std::set<JobState> reached = {kQueued};
  for (size_t round = 0; round < std::size(kJobStates); ++round) {
    for (const Transition& transition : kTransitions) {
      if (reached.contains(transition.from)) reached.insert(transition.to);
    }
  }
  EXPECT_EQ(reached, (std::set{kQueued, kPreparing, kRunning, kSucceeded, kFailed, kCancelling,
                               kCancelled}));
}

TEST(Lifecycle, OnlyAJobThatRanCanSucceedUncancelled) {
  for (const Transition& transition : kTransitions) {
    if (transition.to != kSucceeded) continue;
    EXPECT_TRUE(transition.from == kRunning || transition.from == kCancelling);
  }
}

TEST(EndCause, IsReadByItsName) {
  std::set<std::string_view> names;
  for (const EndCause cause : kEndCauses) {
    names.insert(Name(cause));
    EXPECT_EQ(EndCauseNamed(Name(cause)), cause);
  }
  EXPECT_EQ(names.size(), std::size(kEndCauses));
  EXPECT_EQ(EndCauseNamed("BORED"), EndCause::kNone);
}

TEST(Lifecycle, EventsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (JobEvent event : kJobEvents) names.insert(Name(event));
  EXPECT_EQ(names.size(), std::size(kJobEvents));
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace caip::run
