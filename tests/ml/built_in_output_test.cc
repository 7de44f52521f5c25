// trainingOutput of jobs that run a built-in algorithm (docs/service/api.md, section 7).

#include <gtest/gtest.h>

#include "ml/render.h"
#include "tests/ml/a_job.h"

namespace caip::ml {
namespace {

constexpr char kTreesImage[] = "gcr.io/cloud-ml-algos/boosted_trees:latest";

run::Job Stored(const std::string& job_dir) {
  Job job = AContainerJob();
  job.training_input->master.config->image_uri = kTreesImage;
  job.training_input->job_dir = job_dir;
  run::Job stored;
  stored.key = {"p", job.job_id, ""};
  stored.document = DocumentOf("p", job, DefaultCatalog().FindBuiltInAlgorithm(kTreesImage));
  return stored;
}

TrainingOutput OutputIn(run::Job job, run::JobState state) {
  job.state = state;
  return RenderJob(job).value().training_output.value_or(TrainingOutput());
}

TEST(BuiltInOutput, IsPresentFromTheCreationOn) {
  const TrainingOutput output = OutputIn(Stored("gs://b/out"), run::JobState::kQueued);
  EXPECT_TRUE(output.is_built_in_algorithm_job);
  ASSERT_TRUE(output.built_in_algorithm_output);
  EXPECT_EQ(output.built_in_algorithm_output->framework, "XGBOOST");
  EXPECT_EQ(output.built_in_algorithm_output->runtime_version, "1.15");
  EXPECT_EQ(output.built_in_algorithm_output->python_version, "3.7");
  EXPECT_EQ(output.built_in_algorithm_output->model_path, "");
}

TEST(BuiltInOutput, NamesTheModelAfterSuccessAlone) {
  for (const auto& [job_dir, path] : {std::pair("gs://b/out", "gs://b/out/model/"),
                                      std::pair("gs://b/out/", "gs://b/out/model/")}) {
    const auto succeeded = OutputIn(Stored(job_dir), run::JobState::kSucceeded);
    EXPECT_EQ(succeeded.built_in_algorithm_output->model_path, path);
    const auto failed = OutputIn(Stored(job_dir), run::JobState::kFailed);
    EXPECT_EQ(failed.built_in_algorithm_output->model_path, "");
  }
}

TEST(BuiltInOutput, NamesTheModelsOfTrialsThatSucceeded) {
  run::Job job = Stored("gs://b/out");
  run::TrialsSummary summary{.metric_tag = "loss", .completed = 1};
  summary.trials = {{.id = "2", .values = {}, .state = run::JobState::kSucceeded},
                    {.id = "1", .values = {}, .state = run::JobState::kFailed}};
  job.document = WithTrials(job.document, summary).value();
  const TrainingOutput output = OutputIn(job, run::JobState::kSucceeded);
  EXPECT_TRUE(output.is_built_in_algorithm_job);
  EXPECT_TRUE(output.is_hyperparameter_tuning_job);
  EXPECT_EQ(output.built_in_algorithm_output->model_path, "");
  ASSERT_EQ(output.trials.size(), 2u);
  EXPECT_EQ(output.trials[0].built_in_algorithm_output->model_path, "gs://b/out/2/model/");
  EXPECT_FALSE(output.trials[1].built_in_algorithm_output);
}

TEST(BuiltInOutput, IsAbsentFromOtherJobs) {
  run::Job stored;
  stored.document = DocumentOf("p", AContainerJob());
  EXPECT_FALSE(RenderJob(stored).value().training_output);
}

}  // namespace
}  // namespace caip::ml
