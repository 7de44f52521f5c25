// `jobs describe|list|cancel` against a service of three jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/json.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"

namespace caip::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Gives the same answer to each request, but after a hundred requests an empty one.
class OneAnswer final : public client::Connection {
 public:
  OneAnswer(http::ClientResponse answer, int* requests)
      : answer_(std::move(answer)), requests_(*requests) {}
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest&, const client::BodySink&) override {
    if (++requests_ > 100) return http::ClientResponse{200, {}, "{}"};
    return answer_;
  }
  std::string base_url() const override { return "http://127.0.0.1:1"; }

 private:
  http::ClientResponse answer_;
  int& requests_;
};

class Jobs : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("CLOUDSDK_CORE_PROJECT", "demo", 1);
    ::setenv("TZ", "UTC", 1);
  }

  int Run(Words words) {
    out_ = err_ = "";
    requests_ = 0;
    words.insert(words.begin(), "jobs");
    const Io io{[this](std::string_view text) { out_ += text; },
                [this](std::string_view text) { err_ += text; }};
    const Surroundings world{io,
                             [this](const app::EmulatorFlags&, app::Lifetime) {
                               ++connected_;
                               return Result<std::unique_ptr<client::Connection>>(
                                   std::make_unique<OneAnswer>(answer_, &requests_));
                             },
                             nullptr};
    const Command command = ParseArguments(words);
    if (const auto* print = std::get_if<PrintCommand>(&command)) return RunPrint(*print, world);
    if (const auto* list = std::get_if<ListCommand>(&command)) return RunList(*list, world);
    if (const auto* cancel = std::get_if<CancelCommand>(&command)) return RunCancel(*cancel, world);
    return RunDescribe(std::get<DescribeCommand>(command), world);
  }

  http::ClientResponse answer_{200, {}, R"({"jobs": [{"jobId": "a"}, {"jobId": "b"},
                                                     {"jobId": "c"}], "jobId": "j"})"};
  std::string out_;
  std::string err_;
  int connected_ = 0;
  int requests_ = 0;  // of the last command
};

TEST_F(Jobs, APageOfATableHasItsOwnHeading) {
  EXPECT_EQ(Run({"list", "--page-size=2"}), 0);
  EXPECT_EQ(out_,
            "JOB_ID  STATUS  CREATED  DURATION\na\nb\n\n"
            "JOB_ID  STATUS  CREATED  DURATION\nc\n");
  EXPECT_EQ(Run({"list", "--page-size=2", "--format=csv(jobId)"}), 0);
  EXPECT_EQ(out_, "job_id\na\nb\nc\n");
}

TEST_F(Jobs, AreListedWithTheTimeThatTheyHaveRun) {
  answer_.body = R"({"jobs": [
      {"jobId": "a", "startTime": "2026-11-26T08:00:00Z", "endTime": "2026-11-26T09:02:03Z"},
      {"jobId": "b", "startTime": "2999-01-01T00:00:00Z"},
      {"jobId": "c"}]})";
  EXPECT_EQ(Run({"list"}), 0);
  EXPECT_THAT(out_, HasSubstr("  1h 02m\nb\nc\n"));
  EXPECT_EQ(Run({"list", "--format=table"}), 0);
  EXPECT_EQ(out_, "JOB_ID  STATUS  CREATED\na\nb\nc\n");
}

TEST_F(Jobs, ALimitedListReadsNoMorePagesThanItShows) {
  answer_.body = R"({"jobs": [{"jobId": "a"}, {"jobId": "b"}], "nextPageToken": "more"})";
  EXPECT_EQ(Run({"list", "--limit=3", "--format=value(jobId)"}), 0);
  EXPECT_EQ(out_, "a\nb\na\n");
  EXPECT_EQ(requests_, 2);
  EXPECT_EQ(Run({"list", "--limit=3", "--sort-by=jobId", "--format=value(jobId)"}), 0);
  EXPECT_EQ(out_, "a\na\na\n");
  EXPECT_EQ(requests_, 101) << "only all jobs can be sorted";
}

TEST_F(Jobs, LinksAreForPeople) {
  EXPECT_EQ(Run({"describe", "j"}), 0);
  EXPECT_THAT(err_, HasSubstr("https://console.cloud.google.com/mlengine/jobs/j?project=demo"));
  EXPECT_EQ(Run({"describe", "j", "--format=value(jobId)"}), 0);
  EXPECT_EQ(out_, "j\n");
  EXPECT_EQ(err_, "");
}

TEST_F(Jobs, CancelPrintsTheAnswerInTheFormatAskedFor) {
  answer_.body = "{}";
  EXPECT_EQ(Run({"cancel", "j"}), 0);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Run({"cancel", "j", "--format=json"}), 0);
  EXPECT_EQ(out_, "{}\n");
}

TEST_F(Jobs, ABrokenFilterTellsWhoseLanguageItIs) {
  answer_ = {400, {}, R"({"error": {"status": "INVALID_ARGUMENT", "message": "no field 'x'"}})"};
  EXPECT_EQ(Run({"list", "--filter=x=1"}), kExitUsage) << "a wrong value";
  EXPECT_THAT(err_, HasSubstr("no field 'x'\n--filter uses the service's language"));
  EXPECT_EQ(Run({"list"}), kExitUsage);
  EXPECT_THAT(err_, Not(HasSubstr("--filter")));
}

TEST_F(Jobs, AJobThatIsMissingIsNamedWithTheWayToFindIt) {
  answer_ = {404, {}, R"({"error": {"status": "NOT_FOUND", "message": "No job."}})"};
  EXPECT_EQ(Run({"cancel", "j1"}), kExitFailure);
  EXPECT_EQ(err_,
            "ERROR: (caip.jobs.cancel) NOT_FOUND: No job.\nThe project [demo] has no job 'j1'. To "
            "list its jobs, run:\n\n  $ caip jobs list --project demo\n");
  EXPECT_EQ(Run({"list"}), kExitFailure);
  EXPECT_THAT(err_, Not(HasSubstr("has no job"))) << "no job was named";
}

TEST_F(Jobs, AFailedPreconditionIsNotAWrongValue) {
  answer_ = {400, {}, R"({"error": {"status": "FAILED_PRECONDITION", "message": "Not now."}})"};
  EXPECT_EQ(Run({"cancel", "j1"}), kExitFailure);
}

TEST_F(Jobs, JobsAreSortedByFieldsThatAJobHas) {
  for (const char* key : {"jobId", "~createTime,state", "labels.team", "trainingInput.region",
                          "trainingInput.hyperparameters.goal", "trainingOutput.trials"}) {
    EXPECT_EQ(Run({"list", std::string("--sort-by=") + key}), 0) << key << err_;
  }
  const std::pair<const char*, const char*> wrong[] = {
      {"createdTime", "A job has no field 'createdTime'. Did you mean createTime?"},
      {"jobId,~trainingInput.regoin", "Did you mean trainingInput.region?"},
      {"create_time", "Did you mean createTime?"},
      {"state.x", "A job has no field 'state.x'. Use a field as `caip jobs describe` prints it"},
  };
  for (const auto& [key, complaint] : wrong) {
    EXPECT_EQ(Run({"list", std::string("--sort-by=") + key}), kExitUsage) << key;
    EXPECT_THAT(err_, HasSubstr(complaint)) << key;
  }
}

// The rule is gcloud's (core/properties.py): it checks the characters, not the length.
TEST_F(Jobs, TheProjectIsAnId) {
  const std::pair<const char*, const char*> refused[] = {
      {"Bad!", "a valid project ID, not the project name [Bad!]"},
      {"My project", "not the project name [My project]"},
      {"a_b", "a valid project ID, [a_b] is not a valid project ID."},
      {"a-", "[a-] is not a valid project ID."},
      {"Example.com:p", "not the project name"},
      {"1.2:p", "not the project name"},
      {"12345", "was set to Project number"},
  };
  for (const auto& [project, complaint] : refused) {
    EXPECT_EQ(Run({"list", "--project", project}), kExitUsage) << project;
    EXPECT_THAT(err_, HasSubstr(complaint)) << project;
  }
  EXPECT_EQ(connected_, 0);
  for (const char* project : {"p", "9lives", "example.com:p-1", "a.b-.c:d"}) {
    EXPECT_EQ(Run({"list", "--project", project}), 0) << project << err_;
  }
}

}  // namespace
}  // namespace caip::cli
