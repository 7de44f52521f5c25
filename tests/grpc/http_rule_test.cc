#include "grpc/http_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::grpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const HttpRule kCreate = {"POST", "/v1/{parent=projects/*/locations/*}/customJobs", "custom_job"};
const HttpRule kGet = {"GET", "/v1/{name=projects/*/locations/*/customJobs/*}", ""};
const HttpRule kCancel = {"POST", "/v1/{name=projects/*/locations/*/customJobs/*}:cancel", "*"};

TEST(BindMessage, PutsTheFieldOfTheRuleIntoTheBodyAndTheRestIntoTheQuery) {
  const auto bound = BindMessage({kCreate}, {{"parent", "projects/p/locations/l"},
                                             {"customJob", {{"displayName", "x"}}},
                                             {"pageSize", 3},
                                             {"isStrict", true}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->verb, "POST");
  EXPECT_EQ(bound->path, "/v1/projects/p/locations/l/customJobs");
  EXPECT_EQ(bound->body, R"({"displayName":"x"})");
  EXPECT_THAT(bound->query, ElementsAre(Pair("pageSize", "3"), Pair("isStrict", "true")));
}

TEST(BindMessage, PutsAllThatIsLeftIntoTheBodyOfAStar) {
  const auto bound =
      BindMessage({kCancel}, {{"name", "projects/p/locations/l/customJobs/1"}, {"why", "x"}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->path, "/v1/projects/p/locations/l/customJobs/1:cancel");
  EXPECT_EQ(bound->body, R"({"why":"x"})");
  EXPECT_THAT(bound->query, ElementsAre());
}

TEST(BindMessage, MakesDottedNamesAndRepeatedParameters) {
  const HttpRule list = {"GET", "/v2/{parent}/logs", ""};
  const auto bound = BindMessage({list}, {{"parent", "p"},
                                          {"names", {"a b", "c"}},
                                          {"inner", {{"size", "12"}, {"deep", {{"x", 1}}}}}});
  ASSERT_TRUE(bound.ok());
  EXPECT_THAT(bound->query, ElementsAre(Pair("names", "a b"), Pair("names", "c"),
                                        Pair("inner.size", "12"), Pair("inner.deep.x", "1")));
  EXPECT_FALSE(
      BindMessage({list}, {{"parent", "p"}, {"names", Json::array({Json::object()})}}).ok());
}

TEST(BindMessage, EscapesWhatANameMustNotMean) {
  const auto bound =
      BindMessage({kGet}, {{"name", "projects/p/locations/l/customJobs/1:cancel?a"}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->path, "/v1/projects/p/locations/l/customJobs/1%3Acancel%3Fa");
}

TEST(BindMessage, KeepsAnEscapedSlashOfAName) {
  const HttpRule erase = {"DELETE", "/v2/{log_name=projects/*/logs/*}", ""};
  EXPECT_EQ(BindMessage({erase}, {{"logName", "projects/p/logs/a%2Fb%20"}})->path,
            "/v2/projects/p/logs/a%2Fb%2520");
}

TEST(BindMessage, RefusesANameThatDoesNotFit) {
  for (const char* name :
       {"", "x", "projects/p/locations/l/customJobs/", "projects/p/locations/l/trainingPipelines/1",
        "projects/p/locations/l/customJobs/1/2", "projects//locations/l/customJobs/1",
        "/projects/p/locations/l/customJobs/1"}) {
    const auto bound = BindMessage({kGet}, {{"name", name}});
    ASSERT_FALSE(bound.ok()) << name;
    EXPECT_EQ(bound.error().code, Code::kInvalidArgument);
    EXPECT_EQ(bound.error().message, "'" + std::string(name) +
                                         "' is not a valid value of name. It must have the form "
                                         "projects/*/locations/*/customJobs/*.");
  }
  EXPECT_THAT(BindMessage({kGet}, Json::object()).error().message, HasSubstr("'' is not"));
}

TEST(BindMessage, TriesTheRulesInTheirOrder) {
  const HttpRule other = {"DELETE", "/v2/{log_name=organizations/*/logs/**}", ""};
  const HttpRule first = {"DELETE", "/v2/{log_name=projects/*/logs/*}", ""};
  EXPECT_EQ(BindMessage({first, other}, {{"logName", "organizations/o/logs/a/b"}})->path,
            "/v2/organizations/o/logs/a/b");
  EXPECT_THAT(BindMessage({first, other}, {{"logName", "x"}}).error().message,
              HasSubstr("projects/*/logs/*"));
  EXPECT_EQ(BindMessage({}, Json::object()).error().code, Code::kUnimplemented);
}

TEST(BindMessage, FindsFieldsOfMessagesInside) {
  const HttpRule patch = {"PATCH", "/v1/{custom_job.job_name=jobs/*}", "custom_job"};
  const auto bound =
      BindMessage({patch}, {{"customJob", {{"jobName", "jobs/1"}, {"displayName", "x"}}}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->path, "/v1/jobs/1");
  EXPECT_EQ(bound->body, R"({"displayName":"x"})");
}

}  // namespace
}  // namespace caip::grpc
