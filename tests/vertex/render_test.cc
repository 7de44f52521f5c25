// docs/service/vertex.md, sections 1 and 4: a CustomJob as clients see it.

#include "vertex/render.h"

#include "base/time_text.h"
#include "tests/vertex/a_custom_job.h"
#include "vertex/document.h"

namespace caip::vertex {
namespace {

using run::EndCause;
using run::JobState;

run::Job AJob(JobState state) {
  run::Job job;
  job.key = {"demo", "8501620632646057984", "", "us-central1"};
  job.state = state;
  job.create_time = ParseRfc3339("2026-01-02T03:04:05.123456789Z");
  job.document = ToDocument(Parsed(AContainerJob()), "us-central1");
  return job;
}

Json Rendered(const run::Job& job, const RenderOptions& options = {}) {
  const auto rendered = RenderCustomJob(job, options);
  EXPECT_TRUE(rendered.ok()) << (rendered.ok() ? "" : rendered.error().message);
  return rendered.ok() ? *rendered : Json();
}

TEST(RenderCustomJob, NamesTheProjectByItsNumber) {
  const Json shown = Rendered(AJob(JobState::kPreparing), {.project_number = "123456789012"});
  EXPECT_EQ(shown["name"],
            "projects/123456789012/locations/us-central1/customJobs/8501620632646057984");
  EXPECT_EQ(shown["displayName"], "census");
  EXPECT_EQ(shown["createTime"], "2026-01-02T03:04:05.123456Z");
  EXPECT_EQ(shown["updateTime"], shown["createTime"]);
  EXPECT_FALSE(shown.contains("startTime"));
  EXPECT_FALSE(shown.contains("error"));
  EXPECT_EQ(shown["jobSpec"]["workerPoolSpecs"][0]["replicaCount"], "1") << "int64 is a text";
}

TEST(RenderCustomJob, ShowsTheTimesOfTheRun) {
  run::Job job = AJob(JobState::kSucceeded);
  job.start_time = *job.create_time + std::chrono::seconds(1);
  EXPECT_EQ(Rendered(job)["updateTime"], "2026-01-02T03:04:06.123456Z");
  job.end_time = *job.create_time + std::chrono::seconds(9);
  EXPECT_EQ(Rendered(job)["startTime"], "2026-01-02T03:04:06.123456Z");
  EXPECT_EQ(Rendered(job)["endTime"], "2026-01-02T03:04:14.123456Z");
  EXPECT_EQ(Rendered(job)["updateTime"], Rendered(job)["endTime"]);
}

TEST(RenderCustomJob, IsQueuedWhileItWaitsForAccelerators) {
  run::Job job = AJob(JobState::kQueued);
  job.queue_position = 1;
  EXPECT_EQ(Rendered(job)["state"], "JOB_STATE_PENDING") << "it waits for a moment only";
  Json body = AContainerJob();
  body["jobSpec"]["workerPoolSpecs"][0]["machineSpec"].update(
      {{"acceleratorType", "NVIDIA_TESLA_T4"}, {"acceleratorCount", 1}});
  job.document = ToDocument(Parsed(body), "us-central1");
  EXPECT_EQ(Rendered(job)["state"], "JOB_STATE_QUEUED");
  job.queue_position = 0;
  EXPECT_EQ(Rendered(job)["state"], "JOB_STATE_PENDING");
  job.state = JobState::kPreparing;
  EXPECT_EQ(Rendered(job)["state"], "JOB_STATE_PENDING");
}

TEST(RenderCustomJob, GivesEachStateItsNameAndNumber) {
  struct Row {
    JobState state;
    bool has_queue;
    const char* name;
    int number;
  };
  const Row rows[] = {
      {JobState::kQueued, false, "JOB_STATE_PENDING", 2},
      {JobState::kQueued, true, "JOB_STATE_QUEUED", 1},
      {JobState::kPreparing, true, "JOB_STATE_PENDING", 2},
      {JobState::kRunning, true, "JOB_STATE_RUNNING", 3},
      {JobState::kSucceeded, true, "JOB_STATE_SUCCEEDED", 4},
      {JobState::kFailed, true, "JOB_STATE_FAILED", 5},
      {JobState::kCancelling, true, "JOB_STATE_CANCELLING", 6},
      {JobState::kCancelled, true, "JOB_STATE_CANCELLED", 7},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Rendered(AJob(row.state), {.has_queue = row.has_queue})["state"], row.name);
    EXPECT_EQ(
        Rendered(AJob(row.state), {.enum_numbers = true, .has_queue = row.has_queue})["state"],
        row.number)
        << row.name;
  }
}

TEST(RenderCustomJob, WritesAllEnumsAsNumbersOnRequest) {
  Json body = AContainerJob();
  body["jobSpec"]["scheduling"]["strategy"] = "FLEX_START";
  Json& machine = body["jobSpec"]["workerPoolSpecs"][0]["machineSpec"];
  machine["acceleratorType"] = "NVIDIA_TESLA_A100";
  run::Job job = AJob(JobState::kPreparing);
  job.document = ToDocument(Parsed(body), "us-central1");
  const Json shown = Rendered(job, {.enum_numbers = true});
  EXPECT_EQ(shown["jobSpec"]["scheduling"]["strategy"], 6);
  EXPECT_EQ(shown["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["acceleratorType"], 8);
}

TEST(RenderCustomJob, ShowsTheErrorOfAFailedAndOfACancelledJob) {
  struct Row {
    JobState state;
    EndCause cause;
    bool is_spot;
    int code;
  };
  const Row rows[] = {
      {JobState::kFailed, EndCause::kReplicaFailed, false, 3},
      {JobState::kFailed, EndCause::kOutOfMemory, false, 8},
      {JobState::kFailed, EndCause::kOutOfStock, false, 8},
      {JobState::kFailed, EndCause::kMachineLost, false, 13},
      {JobState::kFailed, EndCause::kMachineLost, true, 8},
      {JobState::kFailed, EndCause::kServiceError, false, 13},
      {JobState::kFailed, EndCause::kRefused, false, 9},
      {JobState::kFailed, EndCause::kWaitedTooLong, false, 4},
      {JobState::kCancelled, EndCause::kRanTooLong, false, 4},
      {JobState::kCancelled, EndCause::kCancelled, false, 1},
  };
  for (const Row& row : rows) {
    run::Job job = AJob(row.state);
    Json body = AContainerJob();
    if (row.is_spot) body["jobSpec"]["scheduling"]["strategy"] = "SPOT";
    job.document = ToDocument(Parsed(body), "us-central1");
    job.end_cause = row.cause;
    job.error_message = "why";
    EXPECT_EQ(Rendered(job)["error"], (Json{{"code", row.code}, {"message", "why"}}))
        << run::Name(row.cause);
  }
  EXPECT_FALSE(Rendered(AJob(JobState::kSucceeded)).contains("error"));
}

TEST(RenderCustomJob, SaysWhichStoredJobCannotBeRead) {
  run::Job job = AJob(JobState::kFailed);
  job.document = std::make_shared<const Json>(Json::object());
  const auto rendered = RenderCustomJob(job, {});
  ASSERT_FALSE(rendered.ok());
  EXPECT_EQ(rendered.error().code, Code::kDataLoss);
  EXPECT_EQ(rendered.error().message,
            "The stored job 'demo/8501620632646057984' cannot be read: it has no region");
}

}  // namespace
}  // namespace caip::vertex
