// Requests that follow a job: they hear of each change from the engine, and do not look for it.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <future>

#include "base/json.h"
#include "emulator/app/emulator.h"
#include "http/client.h"

namespace caip::app {
namespace {

using ::testing::HasSubstr;

constexpr char kImage[] = "gcr.io/demo/waiter";

/// A job whose only replica prints a line, waits for a line in a pipe and prints that.
class FollowedJob : public ::testing::Test {
 protected:
  FollowedJob() {
    EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
    EmulatorOptions options;
    options.state = directory_.path() / "state";
    options.port = 0;
    options.isolation = Isolation::kProcess;  // the pipe is in the host's /tmp
    options.images[kImage] = {"/bin/sh", "-c",
                              "echo begun; read line < '" + pipe_.string() + "'; echo got $line"};
    auto started = Emulator::Start(options, {});
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    if (started.ok()) emulator_ = std::move(*started);
  }

  int Post(const std::string& target, const Json& body) {
    http::Client client(emulator_->base_url());
    const auto answer =
        client.Send({.method = "POST", .target = target, .body = CompactJson(body)});
    return answer.ok() ? answer->status : 0;
  }

  void Submit() {
    const Json input = {{"region", "us-central1"},
                        {"scaleTier", "CUSTOM"},
                        {"masterType", "n1-standard-4"},
                        {"masterConfig", {{"imageUri", kImage}}}};
    ASSERT_EQ(Post("/v1/projects/demo/jobs", {{"jobId", "job_1"}, {"trainingInput", input}}), 200);
  }

  void WriteToPipe(const std::string& line) {
    const Fd pipe(::open(pipe_.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(WriteAll(pipe.get(), line + "\n"));
  }

  TemporaryDirectory directory_;
  Path pipe_ = directory_.path() / "pipe";
  std::unique_ptr<Emulator> emulator_;
};

/// One client that follows the job.
class Follower {
 public:
  explicit Follower(const std::string& url) : client_(url) {}

  /// Asks until an answer has this state, and if `text` is given until a line has it.
  void FollowTo(const std::string& state, const std::string& text = "") {
    while (!failed_ && (state_ != state || said_.find(text) == std::string::npos)) AskOnce();
  }
  const std::string& said() const { return said_; }
  const std::vector<std::string>& states() const { return states_; }
  const std::string& last() const { return last_; }
  bool finished() const { return finished_; }

 private:
  // An answer without news is one that no change has caused.
  void AskOnce() {
    const auto answer = client_.Send(
        {.target = "/emulator/v1/projects/demo/jobs/job_1:follow?waitMs=30000&state=" + state_ +
                   "&after=" + last_});
    failed_ = !answer.ok() || answer->status != 200;
    ASSERT_FALSE(failed_);
    const Json json = *ParseJson(answer->body);
    const std::string state = StringOr(json, "state");
    EXPECT_TRUE(state != state_ || !json["entries"].empty()) << "no news while " << state_;
    failed_ = ::testing::Test::HasFailure();
    if (state != state_) states_.push_back(state);
    for (const Json& entry : json["entries"]) said_ += StringOr(entry, "message") + "\n";
    state_ = state;
    last_ = StringOr(json, "last");
    finished_ = json["finished"] == true;
  }

  http::Client client_;
  std::string state_, last_, said_;
  std::vector<std::string> states_;
  bool finished_ = false;
  bool failed_ = false;
};

TEST_F(FollowedJob, IsFollowedFromItsBeginningToItsEnd) {
  Submit();
  Follower follower(emulator_->base_url());
  follower.FollowTo("RUNNING", "begun");
  auto rest = std::async(std::launch::async, [&] { follower.FollowTo("SUCCEEDED", "got it"); });
  WriteToPipe("it");
  rest.get();
  EXPECT_TRUE(follower.finished());
  EXPECT_THAT(follower.said(), HasSubstr("begun\n"));
  EXPECT_EQ(follower.states().back(), "SUCCEEDED");
  EXPECT_EQ(std::count(follower.states().begin(), follower.states().end(), "RUNNING"), 1);
}

TEST_F(FollowedJob, IsFollowedByManyWhoComeAndGo) {
  Submit();
  std::vector<std::unique_ptr<Follower>> followers;
  std::vector<std::future<void>> followed;
  for (int i = 0; i < 8; ++i) {
    followers.push_back(std::make_unique<Follower>(emulator_->base_url()));
    followed.push_back(std::async(std::launch::async, [follower = followers.back().get(), i] {
      follower->FollowTo("RUNNING", "begun");
      if (i % 2 == 0) follower->FollowTo("SUCCEEDED", "got it");  // the others go
    }));
  }
  for (size_t i = 1; i < followed.size(); i += 2) followed[i].get();
  WriteToPipe("it");
  for (size_t i = 0; i < followed.size(); i += 2) {
    followed[i].get();
    EXPECT_TRUE(followers[i]->finished());
  }
}

TEST_F(FollowedJob, TellsThatItWasCancelled) {
  Submit();
  Follower follower(emulator_->base_url());
  follower.FollowTo("RUNNING", "begun");
  auto rest = std::async(std::launch::async, [&] { follower.FollowTo("CANCELLED"); });
  EXPECT_EQ(Post("/v1/projects/demo/jobs/job_1:cancel", Json::object()), 200);
  rest.get();
  EXPECT_TRUE(follower.finished());
}

TEST_F(FollowedJob, IsLeftByItsFollowersWhenTheEmulatorEnds) {
  Submit();
  Follower follower(emulator_->base_url());
  follower.FollowTo("RUNNING", "begun");
  http::Client client(emulator_->base_url());
  auto rest = std::async(std::launch::async, [&] {
    return client.Send({.target = "/emulator/v1/projects/demo/jobs/job_1:follow?waitMs=30000"
                                  "&state=RUNNING&after=" +
                                  follower.last()});
  });
  EXPECT_EQ(Post("/emulator/v1:shutdown", Json::object()), 200);
  const auto answer = rest.get();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*ParseJson(answer->body))["ending"], true) << answer->body;
}

}  // namespace
}  // namespace caip::app
