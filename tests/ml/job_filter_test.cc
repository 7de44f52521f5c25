// https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs/list

#include "ml/filter/job_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time_text.h"
#include "tests/ml/a_job.h"

namespace caip::ml {
namespace {

using ::testing::HasSubstr;

// A tuning job that failed; endTime is not set.
Job AListedJob() {
  Job job = ATuningJob();
  job.job_id = "rnn_1";
  job.state = run::JobState::kFailed;
  job.create_time = ParseRfc3339("2017-01-15T19:00:30.5Z");
  job.start_time = ParseRfc3339("2017-01-15T19:10:00Z");
  job.labels = {{"team", "vision"}, {"phase-1", ""}};
  job.training_input->args = {"--epochs", "2"};
  job.training_input->worker.count = 2;
  job.training_input->enable_web_access = true;
  job.training_input->scheduling.emplace().max_wait_time = std::chrono::hours(1);
  job.training_input->scheduling->priority = 7;
  return job;
}

struct MatchRow {
  const char* filter;
  bool matches;
};

void ExpectMatches(std::initializer_list<MatchRow> rows) {
  const Job job = AListedJob();
  for (const MatchRow& row : rows) {
    const auto filter = JobFilter::Parse(row.filter);
    ASSERT_TRUE(filter.ok()) << filter.error().message;
    EXPECT_EQ(filter->Matches(job), row.matches) << row.filter;
  }
}

TEST(JobFilter, TheExamplesOfTheApiWork) {
  ExpectMatches({{"jobId:census*", false},
                 {"jobId:rnn*", true},
                 {"jobId:rnn* AND state:FAILED", true},
                 {"jobId:rnn* AND state:SUCCEEDED", false},
                 {"createTime>2017-01-15T19:00", true},
                 {"createTime>2990-01-15T19:00", false},
                 {"createTime<2990-01-15T19:00", true},
                 {"createTime=2990", false},
                 {"createTime>1066-10-14", true}});
}

TEST(JobFilter, NothingMatchesEveryJob) { ExpectMatches({{"", true}, {"  \n", true}}); }

TEST(JobFilter, TextsAreEqualContainedOrPrefixes) {
  ExpectMatches({{"jobId=rnn_1", true},
                 {"jobId=rnn", false},
                 {"jobId = \"rnn_1\"", true},
                 {"jobId!=rnn_1", false},
                 {"jobId:nn", true},
                 {"jobId:nn*", false},
                 {"jobId:\"rnn*\"", false},
                 {"jobId:*", true},
                 {"jobId>=rnn_0", true},
                 {"jobId<rnn_0", false},
                 {"job_id=rnn_1", true}});
}

TEST(JobFilter, StatesAreNames) {
  ExpectMatches({{"state=FAILED", true},
                 {"state:FAILED", true},
                 {"state:FAIL*", true},
                 {"state:SUCC*", false},
                 {"state:CANCEL* OR state:F*", true},
                 {"NOT state:F*", false},
                 {"state!=FAILED", false},
                 {"state=QUEUED", false}});
}

TEST(JobFilter, LabelsAreAMap) {
  ExpectMatches({{"labels.team:vision", true},
                 {"labels.team=vision", true},
                 {"labels.team:vis*", true},
                 {"labels.team:visio", false},
                 {"labels.team:*", true},
                 {"labels.nobody:*", false},
                 {"labels:team", true},
                 {"labels:nobody", false},
                 {"labels.phase-1:*", true},
                 {"labels.phase-1=\"\"", true},
                 {"labels.team!=audio", true},
                 {"labels:*", true}});
}

TEST(JobFilter, AKeyThatIsMissingIsUnequalToAll) {
  ExpectMatches({{"labels.nobody=\"\"", false},
                 {"labels.nobody:\"\"", false},
                 {"labels.nobody<z", false},
                 {"labels.nobody!=\"\"", true},
                 {"labels.nobody!=z", true},
                 {"labels.phase-1:\"\"", true},
                 {"labels.phase-1<z", true}});
}

TEST(JobFilter, TimesMayBeShortened) {
  ExpectMatches({{"createTime>2017", true},
                 {"createTime<2017", false},
                 {"createTime=2017", true},
                 {"createTime:2017-01", true},
                 {"createTime=2017-02", false},
                 {"createTime=2017-01-15", true},
                 {"createTime!=2017-01-15", false},
                 {"createTime=2017-01-15T19", true},
                 {"createTime=2017-01-15T19:00", true},
                 {"createTime=2017-01-15T19:00:30", true},
                 {"createTime=2017-01-15T19:00:30Z", true},
                 {"createTime=2017-01-15T19:00:31Z", false},
                 {"createTime=2017-01-15T20:00:30+01:00", true},
                 {"createTime>=\"2017-01-15T19:00:31Z\"", false},
                 {"createTime>=2017-01-01T00:00Z", true},
                 {"createTime=2017-01-15T19:00Z", true},
                 {"createTime=2017-01-15T20:00+01:00", true},
                 {"createTime<2017-01-15T19:00Z", false},
                 {"createTime<=2017", true},
                 {"createTime<=2017-01-15T19:00", true},
                 {"createTime<=2017-01-15T18:59", false},
                 {"createTime<2017-01-15T19:00", false},
                 {"startTime>2017-01-15 AND startTime<2017-01-16", true}});
}

TEST(JobFilter, ComparesTimesAsTheyAreShownWhichIsInWholeSeconds) {
  ExpectMatches({{"createTime>2017-01-15T19:00:30Z", false},
                 {"createTime>=2017-01-15T19:00:30Z", true},
                 {"createTime=2017-01-15T19:00:30Z", true},
                 {"createTime!=2017-01-15T19:00:30Z", false},
                 {"createTime<=2017-01-15T19:00:30Z", true},
                 {"createTime<2017-01-15T19:00:30Z", false},
                 {"createTime<2017-01-15T19:00:30.5Z", true},
                 {"createTime=2017-01-15T19:00:30.5Z", false},
                 {"createTime>2017-01-15T19:00:29.999Z", true}});
}

TEST(JobFilter, ATimeThatIsNotSetIsUnequalToAllAndComparesWithNone) {
  ExpectMatches({{"endTime>2000", false},
                 {"endTime<2100", false},
                 {"endTime!=2017", true},
                 {"endTime:*", false},
                 {"NOT endTime:*", true}});
}

TEST(JobFilter, FieldsOfTheInputAreTyped) {
  ExpectMatches({{"trainingInput.region=us-central1", true},
                 {"training_input.region:us*", true},
                 {"trainingInput.scaleTier=BASIC", true},
                 {"trainingInput.workerCount>1", true},
                 {"trainingInput.workerCount=2.0", true},
                 {"trainingInput.evaluatorCount=0", true},
                 {"trainingInput.enableWebAccess=true", true},
                 {"trainingInput.useChiefInTfConfig=false", true},
                 {"trainingInput.scheduling.maxWaitTime>=3600s", true},
                 {"trainingInput.scheduling.maxRunningTime>0s", false},
                 {"trainingInput.scheduling.priority!=7", false},
                 {"trainingInput.args:--epochs", true},
                 {"trainingInput.args:--batch", false},
                 {"trainingInput.hyperparameters:*", true},
                 {"trainingInput.hyperparameters.maxTrials<30", false},
                 {"trainingInput.masterConfig:*", false},
                 {"trainingInput.masterConfig.imageUri=\"\"", true}});
}

TEST(JobFilter, AnAbsentTierIsBasic) {
  Job job = AListedJob();
  job.training_input->scale_tier.clear();
  EXPECT_TRUE(JobFilter::Parse("trainingInput.scaleTier=BASIC")->Matches(job));
}

TEST(JobFilter, OrBindsTighterThanAnd) {
  ExpectMatches({{"state=QUEUED AND jobId=x OR jobId=rnn_1", false},
                 {"(state=QUEUED AND jobId=x) OR jobId=rnn_1", true},
                 {"state=FAILED AND jobId=x OR jobId=rnn_1", true},
                 {"jobId=x OR state=QUEUED OR state=FAILED", true}});
}

TEST(JobFilter, NotAndMinusNegateOneTerm) {
  ExpectMatches({{"NOT state=FAILED", false},
                 {"-state=FAILED", false},
                 {"NOT state=QUEUED AND jobId=rnn_1", true},
                 {"NOT (state=QUEUED OR jobId=rnn_1)", false},
                 {"NOT NOT state=FAILED", true},
                 {"-(-state=FAILED)", true}});
}

struct BrokenRow {
  std::string filter;
  const char* told;
};

TEST(JobFilter, FaultsNameTheCharacterAndWhatWasExpected) {
  const BrokenRow rows[] = {
      {"jobId", "at character 6: an operator is expected after 'jobId'"},
      {"jobId=", "at character 7: a value is expected"},
      {"=x", "at character 1: a comparison is expected"},
      {"AND jobId=x", "an operator is expected after 'AND'"},
      {"jobId=x AND", "at character 12: a comparison is expected"},
      {"jobId=x state=FAILED", "at character 9: AND, OR or the end is expected"},
      {"jobId=x and state=FAILED", "at character 9: AND, OR or the end is expected"},
      {"(jobId=x", "at character 9: a closing parenthesis is expected"},
      {"jobId=x)", "at character 8: AND, OR or the end"},
      {"jobId=\"x", "at character 7: the text that begins here has no closing quote"},
      {"jobId~x", "an operator is expected"},
      {"foo=1", "at character 1: there is no field 'foo'"},
      {"jobId=x AND trainingInput.foo=1", "at character 13: there is no field 'trainingInput.foo'"},
      {"etag=x", "there is no field 'etag'"},
      {"jobId.x=1", "there is no field 'jobId.x'"},
      {"trainingInput.args.x=1", "there is no field"},
      {"trainingInput.hyperparameters.params.type=DOUBLE", "there is no field"},
      {"trainingInput.scheduling=x", "is a message"},
      {"labels=x", "is a message"},
      {"state=FAIL", "'FAIL' is not one of STATE_UNSPECIFIED, QUEUED"},
      {"state<FAILED", "is an enum, which has no such comparison"},
      {"state:FALL*", "'FALL*' is not the beginning of one of STATE_UNSPECIFIED, QUEUED"},
      {"state=FAIL*", "'FAIL*' is not one of STATE_UNSPECIFIED, QUEUED"},
      {"trainingInput.enableWebAccess:tr*", "no text"},
      {"createTime>yesterday", "'yesterday' is not a time"},
      {"createTime>2017-13", "is not a time"},
      {"createTime>9999-13", "is not a time"},
      {"trainingInput.workerCount=two", "'two' is not a number"},
      {"trainingInput.scheduling.maxWaitTime>1h", "'1h' is not a duration, as 3600s"},
      {"trainingInput.enableWebAccess=yes", "not true or false"},
      {"trainingInput.enableWebAccess>true", "is a boolean"},
      {"trainingInput.args=x", "is a list"},
      {std::string(60, '(') + "jobId=x" + std::string(60, ')'), "nested deeper than 50"},
      {std::string(60, '-') + "jobId=x", "nested deeper than 50"},
      {"jobId=" + std::string(5000, 'x'), "longer than 4096"},
  };
  for (const BrokenRow& row : rows) {
    const auto filter = JobFilter::Parse(row.filter);
    ASSERT_FALSE(filter.ok()) << row.filter;
    EXPECT_EQ(filter.error().code, Code::kInvalidArgument);
    ASSERT_EQ(filter.error().violations.size(), 1u);
    EXPECT_EQ(filter.error().violations[0].field, "filter");
    EXPECT_THAT(filter.error().message, HasSubstr(row.told));
  }
}

}  // namespace
}  // namespace caip::ml
