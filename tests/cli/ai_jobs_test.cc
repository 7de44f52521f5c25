// `ai custom-jobs|hp-tuning-jobs describe|list|cancel|stream-logs`. Outputs and texts are those of
// gcloud 528, run with the same words against a recording server.
#include "tests/cli/ai_service.h"

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kJob[] = "/v1/projects/demo/locations/us-central1/customJobs/5";
constexpr char kEndpoint[] = "Using endpoint [http://127.0.0.1:1/]\n";
constexpr char kLog[] = "POST /v2/entries:list";

// The request for news of the log of job 5.
std::string FollowFrom(const std::string& last_entry, const std::string& state) {
  return "GET /emulator/v1/projects/demo/jobs/5:follow?waitMs=250&after=" + last_entry +
         "&state=" + state;
}

std::string JobText(const std::string& id, const std::string& state, const std::string& more = "") {
  return R"({"name": "projects/1/locations/us-central1/customJobs/)" + id + R"(", "state": ")" +
         state + R"(", "createTime": "2026-11-26T10:00:0)" + id + R"(Z")" + more + "}";
}

class AiJobs : public AiTest {
 protected:
  int Custom(Words more) {
    Words words = {"ai", "custom-jobs"};
    words.insert(words.end(), more.begin(), more.end());
    words.emplace_back("--region=us-central1");
    return Run(words);
  }

  void AnswerList(const std::string& query, const std::string& body) {
    service_.answers["GET /v1/projects/demo/locations/us-central1/customJobs?" + query] = {
        200, {}, body};
  }
};

TEST_F(AiJobs, DescribePrintsTheWholeJobAsYaml) {
  service_.answers["GET " + std::string(kJob)] = {200, {}, JobText("5", "JOB_STATE_RUNNING")};
  EXPECT_EQ(Custom({"describe", "5"}), 0);
  EXPECT_EQ(out_,
            "createTime: '2026-11-26T10:00:05Z'\n"
            "name: projects/1/locations/us-central1/customJobs/5\nstate: JOB_STATE_RUNNING\n");
  EXPECT_EQ(err_, kEndpoint);
}

TEST_F(AiJobs, DescribeTakesAFullNameAndAFormat) {
  service_.answers["GET /v1/projects/7/locations/us-east1/hyperparameterTuningJobs/5"] = {
      200, {}, R"({"state": "JOB_STATE_FAILED"})"};
  EXPECT_EQ(
      Run({"ai", "hp-tuning-jobs", "describe",
           "projects/7/locations/us-east1/hyperparameterTuningJobs/5", "--format=value(state)"}),
      0);
  EXPECT_EQ(out_, "JOB_STATE_FAILED\n");
}

TEST_F(AiJobs, DoublesOfATuningJobAreShownAsDoubles) {
  service_.answers["GET /v1/projects/demo/locations/us-central1/hyperparameterTuningJobs/5"] = {
      200, {}, R"({"maxTrialCount": 4, "studySpec": {"parameters": [
          {"discreteValueSpec": {"values": [16, 32]}}, {"doubleValueSpec": {"minValue": 1}}]},
        "trials": [{"finalMeasurement": {"stepCount": "3", "metrics": [{"value": 1}]},
                    "parameters": [{"value": 2}]}]})"};
  EXPECT_EQ(Run({"ai", "hp-tuning-jobs", "describe", "5", "--region=us-central1"}), 0);
  EXPECT_EQ(out_,
            "maxTrialCount: 4\nstudySpec:\n  parameters:\n  - discreteValueSpec:\n      values:\n"
            "      - 16.0\n      - 32.0\n  - doubleValueSpec:\n      minValue: 1.0\ntrials:\n"
            "- finalMeasurement:\n    metrics:\n    - value: 1.0\n    stepCount: '3'\n"
            "  parameters:\n  - value: 2\n");
}

TEST_F(AiJobs, AJobThatDoesNotExistIsReportedWithTheCommandThatListsJobs) {
  EXPECT_EQ(Custom({"describe", "404"}), 1);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, std::string(kEndpoint) +
                      "ERROR: (caip.ai.custom-jobs.describe) NOT_FOUND: There is nothing.\nTo list "
                      "the jobs of this region, run:\n\n  $ caip ai custom-jobs list --region "
                      "us-central1 --project demo\n");
}

TEST_F(AiJobs, WithoutARegionNothingIsAsked) {
  EXPECT_EQ(Run({"ai", "custom-jobs", "list"}), 1);
  EXPECT_THAT(err_, HasSubstr("ERROR: (caip.ai.custom-jobs.list) Error parsing [region].\nThe "
                              "[region] resource is not properly specified.\n"));
  EXPECT_EQ(Run({"ai", "hp-tuning-jobs", "cancel", "5"}), 1);
  EXPECT_THAT(err_, HasSubstr("Error parsing [hptuning_job].\nThe [hyperparameter tuning job] "));
  EXPECT_EQ(Run({"ai", "custom-jobs", "describe", "", "--region=us-central1"}), 1);
  EXPECT_THAT(err_, HasSubstr("Failed to find attribute [name]."));
  EXPECT_THAT(service_.requests, IsEmpty());
  EXPECT_EQ(Run({"ai", "custom-jobs", "describe"}), 2);
}

TEST_F(AiJobs, ListPrintsAllPagesAsYaml) {
  AnswerList("pageSize=100", "{\"customJobs\": [" + JobText("7", "JOB_STATE_PENDING") +
                                 "], \"nextPageToken\": \"a/b\"}");
  AnswerList("pageSize=100&pageToken=a%2Fb",
             "{\"customJobs\": [" + JobText("5", "JOB_STATE_FAILED") + "]}");
  EXPECT_EQ(Custom({"list"}), 0);
  EXPECT_EQ(out_,
            "---\ncreateTime: '2026-11-26T10:00:07Z'\n"
            "name: projects/1/locations/us-central1/customJobs/7\nstate: JOB_STATE_PENDING\n"
            "---\ncreateTime: '2026-11-26T10:00:05Z'\n"
            "name: projects/1/locations/us-central1/customJobs/5\nstate: JOB_STATE_FAILED\n");
}

TEST_F(AiJobs, ListLimitsSortsAndPrintsTablesAndUris) {
  AnswerList("pageSize=100", "{\"customJobs\": [" + JobText("7", "JOB_STATE_PENDING") + "," +
                                 JobText("5", "JOB_STATE_FAILED") + "]}");
  EXPECT_EQ(Custom({"list", "--limit=1", "--format=value(state)"}), 0);
  EXPECT_EQ(out_, "JOB_STATE_PENDING\n");
  EXPECT_EQ(Custom({"list", "--limit=1", "--sort-by=createTime", "--format=value(state)"}), 0);
  EXPECT_EQ(out_, "JOB_STATE_FAILED\n");
  EXPECT_EQ(Custom({"list", "--format=table(name.basename(),state)"}), 0);
  EXPECT_EQ(out_, "NAME  STATE\n7     JOB_STATE_PENDING\n5     JOB_STATE_FAILED\n");
  EXPECT_EQ(Custom({"list", "--uri", "--limit=1"}), 0);
  EXPECT_EQ(out_, "http://127.0.0.1:1/v1/projects/1/locations/us-central1/customJobs/7\n");
  EXPECT_EQ(Custom({"list", "--format=table"}), 1);
}

TEST_F(AiJobs, AnEmptyListSaysSo) {
  AnswerList("pageSize=100&filter=state%3DX", "{}");
  EXPECT_EQ(Custom({"list", "--filter=state=X"}), 0);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, std::string(kEndpoint) + "Listed 0 items.\n");
}

TEST_F(AiJobs, AWrongFilterIsReportedWithItsLanguage) {
  service_.answers["GET /v1/projects/demo/locations/us-central1/customJobs?pageSize=100&filter=x"] =
      {400, {}, R"({"error": {"status": "INVALID_ARGUMENT", "message": "Bad filter"}})"};
  EXPECT_EQ(Custom({"list", "--filter=x"}), 1);
  EXPECT_THAT(err_, HasSubstr("Bad filter\n--filter uses the service's language (display_name:"));
}

TEST_F(AiJobs, CancelSendsTheRequestAndTellsHowToSeeTheJob) {
  service_.answers["POST " + std::string(kJob) + ":cancel"] = {200, {}, "{}"};
  EXPECT_EQ(Custom({"cancel", "5"}), 0);
  EXPECT_EQ(service_.bodies.back(), "{}");
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, std::string(kEndpoint) +
                      "Request to cancel CustomJob "
                      "[projects/demo/locations/us-central1/customJobs/5] has been sent.\n\nYou "
                      "may view the status of your job with the command\n\n  $ caip ai custom-jobs "
                      "describe projects/demo/locations/us-central1/customJobs/5\n\n");
}

TEST_F(AiJobs, CancelOfATuningJobNamesItsIdAndRegion) {
  service_
      .answers["POST /v1/projects/demo/locations/us-central1/hyperparameterTuningJobs/5:cancel"] = {
      200, {}, "{}"};
  EXPECT_EQ(Run({"ai", "hp-tuning-jobs", "cancel", "5", "--region=us-central1"}), 0);
  EXPECT_THAT(err_, HasSubstr("Request to cancel hyperparameter tuning job [5] has been sent.\n"));
  EXPECT_THAT(err_, HasSubstr("$ caip ai hp-tuning-jobs describe 5 --region=us-central1\n"));
}

constexpr char kEntries[] = R"({"entries": [
  {"insertId": "a", "timestamp": "2026-11-26T10:00:01.5Z", "severity": "INFO",
   "resource": {"labels": {"task_name": "workerpool0-0"}}, "textPayload": "hi\nthere\n"},
  {"insertId": "b", "timestamp": "2026-11-26T10:00:01.5Z", "jsonPayload": {"message": "json"}},
  {"insertId": "c", "timestamp": "2026-11-26T10:00:20Z", "severity": "ERROR",
   "resource": {"labels": {"task_name": "service"}}, "jsonPayload": {"other": "x"}}]})";

TEST_F(AiJobs, StreamLogsPrintsEachEntryOnceUntilTheJobHasEnded) {
  const std::string get = "GET " + std::string(kJob);
  service_.series[get] = {{200, {}, JobText("5", "JOB_STATE_RUNNING")}};
  service_.answers[get] = {200, {}, JobText("5", "JOB_STATE_FAILED", R"(, "endTime": "x")")};
  service_.series[kLog] = {{200, {}, R"({"entries": [], "nextPageToken": "t"})"},
                           {200, {}, kEntries}};
  service_.answers[kLog] = {200, {}, kEntries};  // again, and nothing new
  EXPECT_EQ(Custom({"stream-logs", "5"}), 0);
  EXPECT_EQ(out_,
            "INFO\t2026-11-26 10:00:01 +0000\tworkerpool0-0\thi\n"
            "INFO\t2026-11-26 10:00:01 +0000\tworkerpool0-0\tthere\n"
            "DEFAULT\t2026-11-26 10:00:01 +0000\tunknown_task\tjson\n"
            "ERROR\t2026-11-26 10:00:20 +0000\tservice\t\n");
  EXPECT_THAT(service_.requests, ElementsAre(get, FollowFrom("", ""), kLog, kLog, get, kLog))
      << "the emulator has no such job: all entries are listed";
  const auto asked = [&](size_t i) { return *ParseJson(service_.bodies[i]); };
  EXPECT_EQ(StringOr(asked(2), "filter"),
            "resource.type=\"ml_job\" AND resource.labels.job_id=\"5\" AND "
            "timestamp>=\"1970-01-01T01:00:00.000000000Z\"");
  EXPECT_EQ(StringOr(asked(3), "pageToken"), "t");
  EXPECT_EQ(StringOr(asked(5), "filter"),
            "resource.type=\"ml_job\" AND resource.labels.job_id=\"5\" AND "
            "timestamp>=\"2026-11-26T10:00:18.000000000Z\"");
}

TEST_F(AiJobs, StreamLogsReadsEachEntryOnceAndThenWhatClientsHaveWritten) {
  const std::string get = "GET " + std::string(kJob);
  service_.series[get] = {{200, {}, JobText("5", "JOB_STATE_RUNNING")}};
  service_.answers[get] = {200, {}, JobText("5", "JOB_STATE_SUCCEEDED", R"(, "endTime": "x")")};
  service_.answers[FollowFrom("", "")] = {
      200, {}, R"({"state": "RUNNING", "last": "2", "finished": false, "entries": [
          {"timestamp": "2026-11-26T10:00:01Z", "severity": "DEFAULT", "task": "workerpool0-0",
           "message": "200"},
          {"timestamp": "2026-11-26T10:00:02Z", "severity": "INFO", "task": "workerpool0-0",
           "message": "{\"message\": \"inside\", \"severity\": \"INFO\"}", "isObject": true}]})"};
  service_.answers[FollowFrom("2", "RUNNING")] = {
      200, {}, R"({"state": "SUCCEEDED", "last": "3", "finished": false, "entries": [
          {"timestamp": "2026-11-26T10:00:03Z", "task": "service", "message": "end"}]})"};
  service_.answers[FollowFrom("3", "SUCCEEDED")] = {
      200, {}, R"({"state": "SUCCEEDED", "last": "3", "finished": true, "entries": []})"};
  service_.answers[kLog] = {200, {}, R"({"entries": [
      {"insertId": "a", "timestamp": "2026-11-26T09:00:00Z", "textPayload": "written early"}]})"};
  EXPECT_EQ(Custom({"stream-logs", "5"}), 0);
  EXPECT_EQ(out_,
            "DEFAULT\t2026-11-26 10:00:01 +0000\tworkerpool0-0\t200\n"
            "INFO\t2026-11-26 10:00:02 +0000\tworkerpool0-0\tinside\n"
            "DEFAULT\t2026-11-26 09:00:00 +0000\tunknown_task\twritten early\n"
            "DEFAULT\t2026-11-26 10:00:03 +0000\tservice\tend\n");
  EXPECT_THAT(service_.requests,
              ElementsAre(get, FollowFrom("", ""), kLog, get, FollowFrom("2", "RUNNING"), get,
                          FollowFrom("3", "SUCCEEDED"), kLog));
  EXPECT_THAT(StringOr(*ParseJson(service_.bodies[2]), "filter"),
              HasSubstr(" AND NOT labels.\"ml.googleapis.com/job_id\":* AND timestamp>="));
}

TEST_F(AiJobs, StreamLogsMayShowOneTaskAndWholeMessages) {
  service_.answers["GET " + std::string(kJob)] = {
      200, {}, JobText("5", "JOB_STATE_SUCCEEDED", R"(, "endTime": "x")")};
  service_.series[kLog] = {{200, {}, kEntries}};
  service_.answers[kLog] = {200, {}, "{}"};
  EXPECT_EQ(Custom({"stream-logs", "5", "--task-name=a\"b", "--allow-multiline-logs",
                    "--polling-interval=1"}),
            0);
  EXPECT_THAT(out_, HasSubstr("\tworkerpool0-0\thi\nthere\n\nDEFAULT\t"));
  EXPECT_THAT(StringOr(*ParseJson(service_.bodies[2]), "filter"),
              HasSubstr(" AND resource.labels.task_name=\"a\\\"b\" AND "));
}

TEST_F(AiJobs, StreamLogsOfAMissingJobFails) {
  EXPECT_EQ(Custom({"stream-logs", "5"}), 1);
  EXPECT_THAT(service_.requests, ElementsAre("GET " + std::string(kJob)));
  EXPECT_EQ(Custom({"stream-logs", "5", "--polling-interval=0"}), 2);
}

}  // namespace
}  // namespace caip::cli
