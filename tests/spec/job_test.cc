#include "spec/job.h"

#include <gtest/gtest.h>

namespace caip::spec {
namespace {

TEST(JobState, NamesAreThoseOfTheApiAndReadBack) {
  const std::pair<JobState, const char*> rows[] = {
      {JobState::kUnspecified, "STATE_UNSPECIFIED"}, {JobState::kQueued, "QUEUED"},
      {JobState::kPreparing, "PREPARING"},           {JobState::kRunning, "RUNNING"},
      {JobState::kSucceeded, "SUCCEEDED"},           {JobState::kFailed, "FAILED"},
      {JobState::kCancelling, "CANCELLING"},         {JobState::kCancelled, "CANCELLED"},
  };
  for (const auto& [state, name] : rows) {
    EXPECT_EQ(Name(state), name);
    EXPECT_EQ(JobStateNamed(name), state);
  }
  EXPECT_EQ(JobStateNamed("queued"), std::nullopt);
  EXPECT_EQ(JobStateNamed(""), std::nullopt);
}

TEST(TrainingInput, FindsEachRolesPart) {
  TrainingInput input;
  input.master.machine_type = "m";
  input.worker.machine_type = "w";
  input.parameter_server.machine_type = "p";
  input.evaluator.machine_type = "e";
  std::string all;
  for (const Role role : kRoles) all += input.Of(role).machine_type;
  EXPECT_EQ(all, "mwpe");
  input.Of(Role::kEvaluator).count = 3;
  EXPECT_EQ(input.evaluator.count, 3);
}

TEST(TrainingInput, UsesAContainerWhenTheMasterHasAnImage) {
  TrainingInput input;
  EXPECT_FALSE(input.UsesContainer());
  input.worker.config.emplace().image_uri = "gcr.io/p/i";
  input.master.config.emplace();
  EXPECT_FALSE(input.UsesContainer());
  input.master.config->image_uri = "gcr.io/p/i";
  EXPECT_TRUE(input.UsesContainer());
}

}  // namespace
}  // namespace caip::spec
