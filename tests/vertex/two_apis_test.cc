// One engine runs the jobs of AI Platform Training and of Vertex AI side by side.

#include "ml/render.h"
#include "ml/schema/job_json.h"
#include "ml/training_api.h"
#include "tests/support/small_world.h"
#include "tests/vertex/a_custom_job.h"
#include "vertex/render.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"

namespace caip::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kId[] = "8501620632646057984";

struct TwoApis : ::testing::Test {
  TwoApis() {
    storage.buckets = {"bkt", "bucket"};
    world.launcher.images["us-docker.pkg.dev/p/images/train:v1"] = {"/bin/train"};
    world.launcher.script = [](const ReplicaLaunch& launch) {
      const bool leads =
          launch.key.replica.index == 0 &&
          (launch.key.replica.role == "master" || launch.key.replica.role == "workerpool0");
      return Script{.run_for = leads ? std::chrono::seconds(10) : kForever};
    };
    world.more_apis = {&new_api};
    world.Boot();
  }
  Json Old() { return ml::ToJson(AJob("census_1")); }
  run::JobPlace Place(std::string_view collection) {
    return {"us-central1", kId, std::string(collection), std::string(vertex::kApiName)};
  }

  FakeStorage storage;
  ml::TrainingApi old_api{{}, storage};
  vertex::TrainingApi new_api{{.service_account = "a@b.c", .project_number = "123"}, storage};
  MemoryStore store;
  SmallWorld world{old_api, store, kMorning};
};

TEST_F(TwoApis, RunJobsOfBoth) {
  ASSERT_TRUE(world.Submit(Old()).ok());
  ASSERT_TRUE(world.Submit(vertex::AContainerJob(), Place(vertex::kCustomJobs)).ok());
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("census_1"), run::JobState::kSucceeded);
  EXPECT_EQ(world.StateOf(kId), run::JobState::kSucceeded);
  EXPECT_TRUE(ml::RenderJob(*world.engine->Get("p", "census_1")).ok());
  EXPECT_TRUE(vertex::RenderCustomJob(*world.engine->Get("p", kId), {}).ok());
}

TEST_F(TwoApis, ListTheirOwnJobs) {
  ASSERT_TRUE(world.Submit(Old()).ok());
  ASSERT_TRUE(world.Submit(vertex::AContainerJob(), Place(vertex::kCustomJobs)).ok());
  const auto old_jobs = *world.engine->List({.project = "p"});
  ASSERT_EQ(old_jobs.size(), 1u);
  EXPECT_EQ(old_jobs[0].key.job_id, "census_1");
  const auto new_jobs = *world.engine->List(
      {.project = "p", .api = std::string(vertex::kApiName), .location = "us-central1"});
  ASSERT_EQ(new_jobs.size(), 1u);
  EXPECT_EQ(new_jobs[0].key.job_id, kId);
}

TEST_F(TwoApis, RecoverJobsOfBoth) {
  ASSERT_TRUE(world.Submit(Old()).ok());
  ASSERT_TRUE(world.Submit(vertex::AContainerJob(), Place(vertex::kCustomJobs)).ok());
  ASSERT_TRUE(world.RunUntilState(kId, run::JobState::kRunning));
  world.KillEmulator();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("census_1"), run::JobState::kSucceeded);
  EXPECT_EQ(world.StateOf(kId), run::JobState::kSucceeded);
}

TEST_F(TwoApis, WordTheirOwnRefusals) {
  EXPECT_THAT(world.Submit(Json::object()).error().message, HasSubstr("Field: job.job_id Error:"));
  EXPECT_THAT(world.Submit(Json::object(), Place(vertex::kCustomJobs)).error().message,
              HasSubstr("List of found errors:\t1.Field: display_name; "));
}

TEST_F(TwoApis, RunThePipelineAsItsCustomJob) {
  Json pipeline = {{"displayName", "census"},
                   {"trainingTaskDefinition", "gs://x/custom_task_1.0.0.yaml"},
                   {"trainingTaskInputs", vertex::AContainerJob()["jobSpec"]}};
  const auto job = world.Submit(pipeline, Place(vertex::kTrainingPipelines));
  ASSERT_TRUE(job.ok()) << job.error().message;
  const std::string backing = vertex::BackingJobId(kId);
  EXPECT_EQ(job->key.job_id, backing);
  world.RunUntilIdle();
  const auto shown = vertex::RenderTrainingPipeline(*world.engine->Get("p", backing), {});
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ((*shown)["state"], "PIPELINE_STATE_SUCCEEDED");
  EXPECT_THAT(world.log.Of(backing, "workerpool0-0"), ElementsAre());
}

}  // namespace
}  // namespace caip::engine
