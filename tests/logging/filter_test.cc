#include "fakes/logging/filter/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::logging {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Json kEntry = {
    {"logName", "projects/p/logs/master-replica-0"},
    {"insertId", "0000000000000007"},
    {"timestamp", "2022-02-09T12:00:00.250000000Z"},
    {"severity", "WARNING"},
    {"resource",
     {{"type", "ml_job"}, {"labels", {{"job_id", "Job_1"}, {"task_name", "master-replica-0"}}}}},
    {"labels", {{"ml.googleapis.com/trial_id", "3"}, {"tier", "gold"}}},
    {"httpRequest", {{"status", 404}, {"latency", "1.500s"}, {"requestSize", "12"}}},
    {"jsonPayload",
     {{"message", "Loss is 0.5, learning rate halved"},
      {"lineno", 42},
      {"ok", true},
      {"nothing", nullptr},
      {"tags", {"red", "green"}},
      {"deep", {{"er", {{"est", "pearl"}}}}}}}};

bool Matches(const std::string& text, const Json& entry = kEntry) {
  const auto filter = Filter::Parse(text);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.error().message;
  return filter.ok() && filter->Matches(entry);
}

std::string ErrorOf(const std::string& text) {
  const auto filter = Filter::Parse(text);
  if (filter.ok()) return "no error";
  EXPECT_EQ(filter.error().code, Code::kInvalidArgument);
  return filter.error().message;
}

TEST(LogFilter, ThatIsBlankMatchesEverything) {
  EXPECT_TRUE(Matches(""));
  EXPECT_TRUE(Matches(" \n\t"));
  EXPECT_TRUE(Matches("-- only a comment"));
}

struct Case {
  const char* filter;
  bool matches;
};

class LogFilterTable : public ::testing::TestWithParam<Case> {};

TEST_P(LogFilterTable, Matches) {
  EXPECT_EQ(Matches(GetParam().filter), GetParam().matches) << GetParam().filter;
}

INSTANTIATE_TEST_SUITE_P(
    Logic, LogFilterTable,
    ::testing::Values(Case{"severity=INFO OR severity=WARNING", true},
                      Case{"severity=INFO AND severity=WARNING", false},
                      Case{"NOT severity=INFO", true}, Case{"-severity=INFO", true},
                      Case{"NOT NOT severity=WARNING", true}, Case{"- severity=WARNING", false},
                      // NOT before OR before AND
                      Case{"severity=WARNING OR severity=INFO AND severity=DEBUG", false},
                      Case{"severity=WARNING OR (severity=INFO AND severity=DEBUG)", true},
                      Case{"NOT severity=INFO OR severity=INFO", true},
                      // what stands side by side is ANDed
                      Case{"severity=WARNING resource.type=ml_job", true},
                      Case{"severity=WARNING\nresource.type=global", false},
                      Case{"severity=WARNING -- a comment\n-- another\nresource.type=ml_job", true},
                      Case{"severity=WARNING NOT pearl", false},
                      Case{"severity=WARNING -pearl", false},
                      // lists of values
                      Case{"severity=(INFO OR WARNING)", true},
                      Case{"severity=(INFO OR DEBUG)", false},
                      Case{"jsonPayload.message:(loss rate)", true},
                      Case{"jsonPayload.message:(loss AND gain)", false},
                      Case{"jsonPayload.message:(loss AND NOT gain)", true},
                      Case{"jsonPayload.message:(gain OR (loss rate))", true},
                      Case{"((severity=(WARNING)))", true}));

INSTANTIATE_TEST_SUITE_P(
    Values, LogFilterTable,
    ::testing::Values(
        Case{"resource.labels.job_id=\"job_1\"", true},  // without case
        Case{"resource.labels.job_id='Job_1'", true}, Case{"resource.labels.job_id=Job_2", false},
        Case{"resource.labels.job_id!=Job_2", true}, Case{"resource.labels.job_id>=job_0", true},
        Case{"resource.labels.job_id:ob_", true},
        Case{"labels.\"ml.googleapis.com/trial_id\"=3", true},
        Case{"labels.\"ml.googleapis.com/trial_id\"=\"4\"", false},
        Case{"jsonPayload.lineno=42", true}, Case{"jsonPayload.lineno>\"41.5\"", true},
        Case{"jsonPayload.lineno<=41", false}, Case{"jsonPayload.lineno>-5", true},
        Case{"jsonPayload.lineno=x", false}, Case{"jsonPayload.ok=TRUE", true},
        Case{"jsonPayload.ok=false", false}, Case{"jsonPayload.nothing=NULL_VALUE", true},
        Case{"jsonPayload.ok=NULL_VALUE", false}, Case{"jsonPayload.tags=green", true},
        Case{"jsonPayload.tags=blue", false}, Case{"jsonPayload.deep.er.est=PEARL", true},
        Case{"json_payload.deep.er:pearl", true}, Case{"log_name:master", true},
        Case{"httpRequest.status>=400 httpRequest.status<500", true},
        Case{"http_request.request_size=12", true}, Case{"httpRequest.latency>1s", true},
        Case{"httpRequest.latency>\"1600ms\"", false}, Case{"httpRequest.latency=1.5", true},
        Case{"jsonPayload.message=\"Loss is 0.5, learning rate \\x68alved\"", true},
        Case{"jsonPayload.message:\"\\u006coss\"", true}));

INSTANTIATE_TEST_SUITE_P(
    Missing, LogFilterTable,
    ::testing::Values(Case{"jsonPayload.absent=1", false}, Case{"jsonPayload.absent!=1", false},
                      Case{"NOT jsonPayload.absent=1", true}, Case{"labels.absent!=x", false},
                      Case{"trace=\"\"", true}, Case{"trace!=x", true},
                      Case{"sourceLocation.line=0", true}, Case{"operation.first=false", true},
                      Case{"jsonPayload:*", true}, Case{"trace:*", false},
                      Case{"labels.tier:*", true}, Case{"labels.absent:*", false},
                      Case{"httpRequest:*", true}, Case{"textPayload:*", false},
                      Case{"labels:tier", true}, Case{"labels:absent", false}));

INSTANTIATE_TEST_SUITE_P(
    Severities, LogFilterTable,
    ::testing::Values(Case{"severity>=INFO", true}, Case{"severity>=warning", true},
                      Case{"severity>\"WARNING\"", false}, Case{"severity<ERROR", true},
                      Case{"severity=400", true}, Case{"severity>=500", false},
                      Case{"severity!=DEFAULT", true}, Case{"severity=~\"^WARN\"", true}));

INSTANTIATE_TEST_SUITE_P(
    Times, LogFilterTable,
    ::testing::Values(Case{"timestamp=\"2022-02-09T12:00:00.25Z\"", true},
                      Case{"timestamp>=\"2022-02-09T12:00:00.250000000Z\"", true},
                      Case{"timestamp>\"2022-02-09T12:00:00.250Z\"", false},
                      Case{"timestamp<\"2022-02-09T13:00:00.2500000010009+01:00\"", true},
                      Case{"timestamp>=\"2022-02-09T13:00:00.250000+0100\"", true},
                      Case{"timestamp>=\"2022-02-09T12:00:00-0001\"", false},
                      Case{"timestamp>=\"2022-02-09\"", true}, Case{"timestamp>=2022-02-10", false},
                      Case{"timestamp=\"2022-02-09\"", true}, Case{"timestamp=\"2022-02\"", true},
                      Case{"timestamp=\"2021\"", false}, Case{"timestamp<\"9999-12-31\"", true},
                      Case{"timestamp>\"0001-01-01T00:00:00Z\"", true},
                      Case{"timestamp<=\"2022-02-09T12:00\"", false}));

INSTANTIATE_TEST_SUITE_P(
    Patterns, LogFilterTable,
    ::testing::Values(Case{"jsonPayload.message=~\"rate (halved|doubled)$\"", true},
                      Case{"jsonPayload.message=~\"^loss\"", false},  // case counts
                      Case{"jsonPayload.message=~\"(?i)^loss\"", true},
                      Case{"jsonPayload.message=~\"0\\.5\"", true},
                      Case{"jsonPayload.message!~\"gain\"", true},
                      Case{"jsonPayload.absent!~\"gain\"", false},
                      Case{"jsonPayload.message=~(\"^Gain\" OR \"^Loss\")", true}));

INSTANTIATE_TEST_SUITE_P(Anywhere, LogFilterTable,
                         ::testing::Values(Case{"halved", true}, Case{"\"RATE HALVED\"", true},
                                           Case{"doubled", false}, Case{"pearl", true},
                                           Case{"42", true}, Case{"jsonPayload:pearl", true},
                                           Case{"and", false}, Case{"NOT doubled", true},
                                           Case{"halved OR doubled", true}));

INSTANTIATE_TEST_SUITE_P(
    Functions, LogFilterTable,
    ::testing::Values(Case{"log_id(\"master-replica-0\")", true}, Case{"log_id(\"x\")", false},
                      Case{"NOT log_id(\"x\")", true}, Case{"SEARCH(\"learning LOSS\")", true},
                      Case{"SEARCH(\"learn\")", false},  // words, not parts of words
                      Case{"SEARCH(jsonPayload.message, \"rate\")", true},
                      Case{"SEARCH(jsonPayload.message, \"pearl\")", false},
                      Case{"SEARCH(\"`learning rate`\")", true},
                      Case{"SEARCH(\"`rate learning`\")", false}, Case{"sample(insertId, 1)", true},
                      Case{"sample(insertId, 0)", false}));

TEST(LogFilter, SamplesAboutTheFractionAndTheSameOnesAgain) {
  const auto filter = Filter::Parse("sample(insertId, 0.25)");
  int taken = 0;
  for (int i = 0; i < 4000; ++i) {
    const Json entry = {{"insertId", std::to_string(i)}};
    taken += filter->Matches(entry);
    ASSERT_EQ(filter->Matches(entry), filter->Matches(entry));
  }
  EXPECT_GT(taken, 850);
  EXPECT_LT(taken, 1150);
}

TEST(LogFilter, OfGcloudsStreamIsUnderstood) {
  const std::string filter =
      "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND "
      "resource.labels.job_id=\"Job_1\" AND (resource.labels.task_name=\"master-replica-0\" OR "
      "labels.task_name=\"master-replica-0\") AND "
      "((timestamp=\"2022-02-09T12:00:00.250000000Z\" AND insertId>\"0000000000000006\") OR "
      "timestamp>\"2022-02-09T12:00:00.250000000Z\") AND "
      "timestamp<\"2026-11-21T03:10:38.797718+00:00\"";
  EXPECT_TRUE(Matches(filter));
}

TEST(LogFilter, ThatIsBrokenTellsWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"severity=ERROR AND", "line 1, column 19, at the end"},
      {"severity=\n  ERROR )", "line 2, column 9, token ')'"},
      {"(severity=ERROR", "line 1, column 16, at the end"},
      {"AND severity=ERROR", "column 1, token 'AND'"},
      {"severity=", "column 10, at the end"},
      {"textPayload=\"open", "column 13"},
      {"thud=1", "'thud' at line 1, column 1"},
      {"operation.thud=1", "'operation.thud'"},
      {"textPayload.x=1", "'textPayload.x'"},
      {"labels..x=1", "'labels..x'"},
      {"insertId=abc:def", "column 13, token ':'"},
      {"severity=LOUD", "'LOUD' is not a valid value of 'severity'"},
      {"timestamp>=\"yesterday\"", "RFC 3339"},
      {"httpRequest.status=many", "which must be a number"},
      {"operation.first=maybe", "which must be true or false"},
      {"operation.first>true", "operator does not fit"},
      {"resource=ml_job", "operator does not fit the field 'resource'"},
      {"textPayload=~\"(\"", "missing"},
      {"textPayload=\"\\u12\"", "column 14"},
      {"source(projects/p)", "function 'source' is not emulated"},
      {"ip_in_net(httpRequest.remoteIp, \"10.0.0.0/8\")", "function 'ip_in_net'"},
      {"regexp_extract(textPayload, \"x\")", "function 'regexp_extract'"},
      {"sample(insertId, 2)", "sample(field, fraction)"},
      {"log_id()", "log_id(\"LOG_ID\")"},
      {"\"labels\"=3", "column 1"},
      {"a { b", "token '{'"},
      {"()", "token ')'"},
  };
  for (const auto& [filter, message] : cases) {
    EXPECT_THAT(ErrorOf(filter), HasSubstr(message)) << filter;
  }
}

TEST(LogFilter, EndsItsRecursionAndItsLength) {
  EXPECT_THAT(ErrorOf(std::string(5000, '(')), HasSubstr("100 levels"));
  std::string nots;
  for (int i = 0; i < 500; ++i) nots += "NOT ";
  EXPECT_THAT(ErrorOf(nots + "x"), HasSubstr("100 levels"));
  EXPECT_THAT(ErrorOf(std::string(20'001, 'x')), HasSubstr("20000 are allowed"));
  EXPECT_THAT(ErrorOf("\xff\xfe"), HasSubstr("UTF-8"));
}

TEST(SearchWords, SplitAtWhatIsNoLetterOrDigit) {
  EXPECT_THAT(SearchWords("Hello, world/foo_bar=1"),
              ElementsAre("hello", "world", "foo", "bar", "1"));
}

}  // namespace
}  // namespace caip::logging
