#include "ml/job.h"

#include <gtest/gtest.h>

namespace caip::ml {
namespace {

TEST(JobState, NamesAreThoseOfTheApiAndReadBack) {
  const std::pair<run::JobState, const char*> rows[] = {
      {run::JobState::kUnspecified, "STATE_UNSPECIFIED"}, {run::JobState::kQueued, "QUEUED"},
      {run::JobState::kPreparing, "PREPARING"},           {run::JobState::kRunning, "RUNNING"},
      {run::JobState::kSucceeded, "SUCCEEDED"},           {run::JobState::kFailed, "FAILED"},
      {run::JobState::kCancelling, "CANCELLING"},         {run::JobState::kCancelled, "CANCELLED"},
  };
  for (const auto& [state, name] : rows) {
    EXPECT_EQ(Name(state), name);
    EXPECT_EQ(run::JobStateNamed(name), state);
  }
  EXPECT_EQ(run::JobStateNamed("queued"), std::nullopt);
  EXPECT_EQ(run::JobStateNamed(""), std::nullopt);
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
}  // namespace caip::ml
