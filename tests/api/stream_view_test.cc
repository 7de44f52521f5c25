#include "emulator/api/control/stream_view.h"

#include <gtest/gtest.h>

#include "tests/api/ml_world.h"

namespace caip::api {
namespace {

constexpr char kGcloud[] = "gcloud/528 command/gcloud.x invocation-id/one environment/None";
constexpr char kAnotherRun[] = "gcloud/528 command/gcloud.x invocation-id/two environment/None";

// A job that has ended, and a log whose last line came at kMorning + 10 s.
struct StreamWorld : MlWorld {
  StreamWorld() {
    router = http::Router(NoRouteResponse);
    router.Add(
        ForStreamReaders(MlRoutes(*world.engine, policies, studies, {"1", "robot@example.com"}),
                         *world.engine, *book, readers));
    engine::JobRecord record;
    record.job.key = {"demo", "census", ""};
    record.job.state = run::JobState::kFailed;
    record.job.error_message = "The replica master 0 exited with a non-zero status of 1.";
    record.job.create_time = engine::kMorning;
    record.job.start_time = engine::kMorning + std::chrono::seconds(1);
    record.job.end_time = engine::kMorning + std::chrono::seconds(10);
    ml::Job job;
    job.training_input.emplace();
    record.job.document = std::make_shared<const Json>(ml::ToStoredJson(job));
    EXPECT_TRUE(world.store.Create(record).ok());
    logging::Entry last;
    last.project = "demo";
    last.job_id = "census";
    last.task = "master-replica-0";
    last.severity = "INFO";
    last.timestamp = engine::kMorning + std::chrono::seconds(10);
    last.message = "the last words";
    book->Append({last});
    EXPECT_TRUE(book->Flush().ok());
  }
  Json JobAsSeenBy(const std::string& user_agent) {
    http::TextBody nothing("");
    http::Request request;
    request.method = "GET";
    request.path = "/v1/projects/demo/jobs/census";
    request.host = host;
    request.scheme = scheme;
    request.body = &nothing;
    request.headers.Set("User-Agent", user_agent);
    const auto json = ParseJson(router.Handle(request).body);
    return json.ok() ? *json : Json();
  }
  void HasRead(std::chrono::seconds until) {
    readers.Record("one", "demo", "census", engine::kMorning + until);
  }

  std::unique_ptr<logging::LogBook> book =
      *logging::LogBook::Open(directory.path() / "logs.db", {"ml_job", "ml.googleapis.com"});
  logging::StreamReaders readers;
};

TEST(StreamView, HidesTheEndFromAClientThatHasNotReadTheLastLines) {
  StreamWorld world;
  world.HasRead(std::chrono::seconds(5));
  const Json seen = world.JobAsSeenBy(kGcloud);
  EXPECT_EQ(seen["state"], "RUNNING");
  EXPECT_FALSE(seen.contains("endTime"));
  EXPECT_FALSE(seen.contains("errorMessage"));
  EXPECT_TRUE(seen.contains("startTime"));
}

TEST(StreamView, ShowsTheEndToAClientThatHasReadTheLastLines) {
  StreamWorld world;
  world.HasRead(std::chrono::seconds(11));
  EXPECT_EQ(world.JobAsSeenBy(kGcloud)["state"], "FAILED");
  EXPECT_TRUE(world.JobAsSeenBy(kGcloud).contains("endTime"));
}

TEST(StreamView, ShowsTheEndToOtherClientsAtOnce) {
  StreamWorld world;
  world.HasRead(std::chrono::seconds(5));
  for (const char* other : {kAnotherRun, "curl/8", ""}) {
    EXPECT_EQ(world.JobAsSeenBy(other)["state"], "FAILED") << other;
  }
}

TEST(StreamView, ShowsAJobThatNeverStartedAsQueued) {
  ml::Job job;
  job.state = run::JobState::kCancelled;
  job.end_time = engine::kMorning;
  EXPECT_EQ(BeforeItsEnd(job).state, run::JobState::kQueued);
  job.start_time = engine::kMorning;
  EXPECT_EQ(BeforeItsEnd(job).state, run::JobState::kRunning);
  EXPECT_FALSE(BeforeItsEnd(job).end_time);
}

}  // namespace
}  // namespace caip::api
