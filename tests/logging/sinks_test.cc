// The types and limits of sinks, metrics and exclusions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/logging/api/logging_api.h"
#include "tests/api/router_client.h"

namespace caip::logging {
namespace {

using ::testing::HasSubstr;

class SinksTest : public ::testing::Test {
 protected:
  SinksTest() {
    auto book = LogBook::Open(file_, JobLogNames{"ml_job", "ml.googleapis.com"});
    EXPECT_TRUE(book.ok());
    book_ = std::move(*book);
    router_.Add(LoggingRoutes(MakeLoggingApi(file_, *book_, clock_, clock_, readers_)));
  }
  api::Answer Create(const std::string& collection, const Json& body) {
    return api::AskRouter(router_, "POST", "/v2/projects/p/" + collection, CompactJson(body));
  }
  Json SinkWith(const std::string& name, const Json& value) {
    Json sink = {{"name", "s" + std::to_string(++made_)}, {"destination", "d"}};
    sink[name] = value;
    return sink;
  }

  TemporaryDirectory directory_;
  Path file_ = directory_.path() / "logs.db";
  VirtualClock clock_{*ParseRfc3339("2022-02-09T12:00:00Z")};
  StreamReaders readers_;
  std::unique_ptr<LogBook> book_;
  http::Router router_{[](int status, const http::Request&, const std::string&) {
    return http::JsonResponse(status, "{}");
  }};
  int made_ = 0;
};

Json ExclusionsOf(int count) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) {
    list.push_back(Json{{"name", "e" + std::to_string(i)}, {"filter", "severity>=ERROR"}});
  }
  return list;
}

TEST_F(SinksTest, HaveTheTypesOfTheReference) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"filter", "5", "filter"},
      {"description", "[]", "description"},
      {"disabled", R"("yes")", "disabled"},
      {"destination", "7", "destination"},
      {"bigqueryOptions", "true", "bigqueryOptions"},
      {"exclusions", "{}", "exclusions"},
      {"exclusions", "[5]", "exclusions[0]"},
      {"exclusions", R"([{"name": "e"}])", "exclusions[0].filter"},
      {"exclusions", R"([{"name": "e", "filter": []}])", "exclusions[0].filter"},
      {"exclusions", R"([{"name": "e", "filter": "x", "disabled": 1}])", "exclusions[0].disabled"},
      {"exclusions", R"([{"name": "e", "filter": "("}])", ""},
      {"exclusions", R"([{"name": "e", "filter": "x", "size": 1}])", "exclusions[0]"},
  };
  for (const auto& [name, value, named] : cases) {
    const api::Answer answer = Create("sinks", SinkWith(name, Json::parse(value)));
    EXPECT_EQ(answer.status, 400) << name << value << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(named)) << value;
  }
  EXPECT_EQ(
      Create("metrics", {{"name", "m"}, {"filter", "x"}, {"labelExtractors", {{"a", 1}}}}).status,
      400);
  EXPECT_EQ(Create("exclusions", {{"name", "e"}, {"filter", 5}}).status, 400);
  const api::Answer list = api::AskRouter(router_, "GET", "/v2/projects/p/sinks");
  EXPECT_EQ(list.json, Json::object());
}

TEST_F(SinksTest, LeaveOutNull) {
  EXPECT_FALSE(Create("sinks", SinkWith("description", nullptr)).json.contains("description"));
}

TEST_F(SinksTest, ReportAllViolationsAtOnce) {
  const std::string text =
      Create("sinks", Json{{"name", "s"}, {"destination", 1}, {"disabled", 2}, {"shape", 3}}).text;
  for (const char* named : {"'destination'", "'disabled'", "shape"}) {
    EXPECT_THAT(text, HasSubstr(named));
  }
}

// https://cloud.google.com/logging/quotas
TEST_F(SinksTest, HaveAtMost50Exclusions) {
  EXPECT_EQ(Create("sinks", SinkWith("exclusions", ExclusionsOf(50))).status, 200);
  for (const int count : {51, 100'000}) {
    const api::Answer answer = Create("sinks", SinkWith("exclusions", ExclusionsOf(count)));
    EXPECT_EQ(answer.status, 400) << count;
    EXPECT_THAT(answer.text, HasSubstr("at most 50 exclusions"));
  }
}

// `gcloud logging sinks update` sends masks in snake_case with bodies in camelCase.
TEST_F(SinksTest, ChangeTheMembersThatAMaskNamesInSnakeOrCamelCase) {
  Create("sinks", {{"name", "s"}, {"destination", "d"}, {"description", "old"}});
  const auto patch = [&](const std::string& mask, const Json& body) {
    return api::AskRouter(router_, "PATCH", "/v2/projects/p/sinks/s?updateMask=" + mask,
                          CompactJson(body));
  };
  const Json children = {{"includeChildren", true}, {"interceptChildren", true}};
  const Json snake = patch("include_children,intercept_children", children).json;
  EXPECT_EQ(snake["includeChildren"], true);
  EXPECT_EQ(snake["interceptChildren"], true);
  EXPECT_EQ(snake["description"], "old");
  EXPECT_EQ(patch("includeChildren", {{"include_children", false}}).json["includeChildren"], false);
  EXPECT_FALSE(patch("include_children", Json::object()).json.contains("includeChildren"));
  const Json twice = patch("destination&update_mask=description", {{"destination", "e"}}).json;
  EXPECT_EQ(twice["destination"], "e");
  EXPECT_FALSE(twice.contains("description"));
}

TEST_F(SinksTest, MergeTheMembersOfNestedPaths) {
  const Json options = {{"usesTimestampColumnPartitioning", true}};
  Create("sinks", {{"name", "s"}, {"destination", "d"}, {"bigqueryOptions", options}});
  const std::string path = "/v2/projects/p/sinks/s";
  const std::string mask = path + "?updateMask=bigquery_options.use_partitioned_tables";
  const std::string body = R"({"bigqueryOptions": {"usePartitionedTables": true}})";
  Json both = options;
  both["usePartitionedTables"] = true;
  EXPECT_EQ(api::AskRouter(router_, "PATCH", mask, body).json["bigqueryOptions"], both);
  EXPECT_EQ(api::AskRouter(router_, "GET", path).json["bigqueryOptions"], both);
  EXPECT_EQ(api::AskRouter(router_, "PATCH", mask, "{}").json["bigqueryOptions"], options);
}

TEST_F(SinksTest, RefuseMaskPathsThatNameNoMember) {
  const Json sink = {{"name", "s"}, {"destination", "d"}};
  Create("sinks", sink);
  for (const char* path : {"include_child", "bigquery_options.shape", "destination.host", "*"}) {
    const api::Answer answer = api::AskRouter(
        router_, "PATCH", "/v2/projects/p/sinks/s?updateMask=filter,shape," + std::string(path),
        R"({"filter": "severity>=ERROR"})");
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_EQ(answer.json["error"]["status"], "INVALID_ARGUMENT");
    EXPECT_THAT(answer.text, HasSubstr("'shape', '" + std::string(path) + "' are not fields"));
    EXPECT_THAT(answer.text, HasSubstr("bigqueryOptions.usePartitionedTables"));
  }
  const Json kept = api::AskRouter(router_, "GET", "/v2/projects/p/sinks/s").json;
  EXPECT_FALSE(kept.contains("filter"));
}

}  // namespace
}  // namespace caip::logging
