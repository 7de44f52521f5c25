// A state directory of an earlier version: its jobs are found, and the unfinished ones continue.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/encoding.h"
#include "base/time_text.h"
#include "host/store/job_store.h"
#include "ml/render.h"
#include "ml/training_api.h"
#include "places.h"
#include "tests/support/small_world.h"

namespace caip::host {
namespace {

using run::JobState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// The store of tests/fixtures/jobs_0_1.sql, with an engine on it that starts no processes.
struct EarlierStore : ::testing::Test {
  EarlierStore() {
    const Path file = directory.path() / "jobs.db";
    const auto dump = ReadFile(Path(CAIP_SOURCE_DIR) / "tests/fixtures/jobs_0_1.sql");
    EXPECT_TRUE(dump.ok());
    sqlite3* database = nullptr;
    sqlite3_open(file.c_str(), &database);
    EXPECT_EQ(sqlite3_exec(database, dump->c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    store = *OpenJobStore(file);
    world =
        std::make_unique<engine::SmallWorld>(api, *store, *ParseRfc3339("2026-11-22T21:50:00Z"));
    world->launcher.on_launch = [this](const engine::ReplicaLaunch& launch) {
      launches.push_back(launch);
    };
    world->Boot();
  }
  ml::Job JobOf(const std::string& id) { return *ml::RenderJob(*world->engine->Get("demo", id)); }
  JobState StateOf(const std::string& id) { return JobOf(id).state; }
  std::vector<engine::ReplicaLaunch> LaunchesOf(const std::string& id) {
    std::vector<engine::ReplicaLaunch> found;
    for (const auto& launch : launches) {
      if (launch.key.run.job_id == id) found.push_back(launch);
    }
    return found;
  }

  TemporaryDirectory directory;
  engine::FakeStorage storage;
  ml::TrainingApi api{{}, storage};
  std::unique_ptr<engine::JobStore> store;
  std::unique_ptr<engine::SmallWorld> world;
  std::vector<engine::ReplicaLaunch> launches;
};

TEST_F(EarlierStore, ShowsItsJobsAsTheyWere) {
  const auto jobs = world->engine->List({.project = "demo"});
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  std::vector<std::string> ids;
  for (const run::Job& job : *jobs) ids.push_back(job.key.job_id);
  EXPECT_THAT(ids, ElementsAre("study", "runs", "failed", "done"));

  const ml::Job done = JobOf("done");
  EXPECT_EQ(done.state, JobState::kSucceeded);
  EXPECT_EQ(done.labels.at("team"), "a");
  EXPECT_EQ(Base64(done.etag), "XwlE1sq5Sdk=");
  EXPECT_EQ(done.training_input->master.config->image_uri, "gcr.io/p/sh:1");
  EXPECT_TRUE(done.start_time && done.end_time);
  EXPECT_THAT(JobOf("failed").error_message, ::testing::HasSubstr("non-zero status of 3"));
}

TEST_F(EarlierStore, HasItsRunningJobContinued) {
  EXPECT_EQ(StateOf("runs"), JobState::kRunning);
  world->RunUntilIdle();
  EXPECT_EQ(StateOf("runs"), JobState::kSucceeded);
  const auto of_job = LaunchesOf("runs");
  ASSERT_THAT(of_job, SizeIs(2));
  for (const engine::ReplicaLaunch& launch : of_job) {
    EXPECT_EQ(launch.key.boot, 2);
    EXPECT_THAT(launch.Argv(), ElementsAre("/bin/sh", "-c", "sleep 1000"))
        << "by the image's command of then";
  }
  EXPECT_EQ(of_job[0].machine.host_name, "cmle-training-master-ad1b3968f8-0");
  EXPECT_EQ(of_job[1].machine.host_name, "cmle-training-worker-ad1b3968f8-0");
}

TEST_F(EarlierStore, HasItsStudyContinued) {
  world->RunUntilIdle();
  const ml::Job study = JobOf("study");
  EXPECT_EQ(study.state, JobState::kSucceeded);
  EXPECT_EQ(study.training_output->completed_trial_count, 2);
  const auto of_job = LaunchesOf("study");
  ASSERT_THAT(of_job, SizeIs(1));
  EXPECT_EQ(of_job[0].key.run.trial, "2");
  EXPECT_THAT(of_job[0].Argv(), Contains("1")) << "the value that it had";
}

}  // namespace
}  // namespace caip::host
