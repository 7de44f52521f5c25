#include "fakes/logging/api/logging_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "http/text_body.h"
#include "tests/logging/read_after.h"
#include "tests/support/large_bodies.h"

namespace caip::logging {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Instant kApiNoon = *ParseRfc3339("2022-02-09T12:00:00Z");

struct Reply {
  int status = 0;
  Json body;
  std::string message() const { return StringOr(body["error"], "message"); }
};

class LoggingApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto book = LogBook::Open(file_, kMlNames);
    ASSERT_TRUE(book.ok());
    book_ = std::move(book).value();
    router_.Add(LoggingRoutes(MakeLoggingApi(file_, *book_, clock_, wall_, readers_)));
  }

  Reply Call(const std::string& method, const std::string& target, const std::string& text = "",
             const std::string& user_agent = "test") {
    http::Request request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    if (const size_t mark = target.find('?'); mark != target.npos) {
      for (const std::string& pair : Split(target.substr(mark + 1), '&')) {
        const size_t equal = pair.find('=');
        request.query.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
      }
    }
    request.headers.Set("User-Agent", user_agent);
    http::TextBody body(text);
    request.body = &body;
    const http::Response response = router_.Handle(request);
    Reply reply{response.status, {}};
    if (response.body.empty()) return reply;
    auto json = ParseJson(response.body);
    EXPECT_TRUE(json.ok()) << response.body;
    reply.body = json.ok() ? *json : Json();
    return reply;
  }
  Reply Post(const std::string& verb, const Json& body, const std::string& user_agent = "test") {
    return Call("POST", "/v2/entries:" + verb, CompactJson(body), user_agent);
  }
  Reply WriteOne(Json entry, Json more = Json::object()) {
    more["entries"] = Json::array({std::move(entry)});
    return Post("write", more);
  }
  Json List(const std::string& filter = "") {
    const Reply reply = Post("list", {{"resourceNames", {"projects/p"}}, {"filter", filter}});
    EXPECT_EQ(reply.status, 200) << CompactJson(reply.body);
    const Json* entries = Member(reply.body, "entries");
    return entries ? *entries : Json::array();
  }

  TemporaryDirectory directory_;
  Path file_ = directory_.path() / "logs.db";
  VirtualClock clock_{kApiNoon};
  VirtualClock wall_{kApiNoon};
  StreamReaders readers_;
  std::unique_ptr<LogBook> book_;
  http::Router router_{[](int status, const http::Request&, const std::string&) {
    return http::JsonResponse(status, "{}");
  }};
};

const Json kGlobal = {{"type", "global"}};

TEST_F(LoggingApiTest, WritesWhatGcloudWrites) {
  const Reply reply = WriteOne({{"logName", "projects/p/logs/my%2Flog"},
                                {"resource", kGlobal},
                                {"severity", "ERROR"},
                                {"textPayload", "x"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, Json::object());
  EXPECT_EQ(List()[0], (Json{{"logName", "projects/p/logs/my%2Flog"},
                             {"resource", kGlobal},
                             {"severity", "ERROR"},
                             {"textPayload", "x"},
                             {"timestamp", "2022-02-09T12:00:00.000000000Z"},
                             {"receiveTimestamp", "2022-02-09T12:00:00.000000000Z"},
                             {"insertId", "w000000000000001"}}));
}

// A client may give its entries the labels of a job, and another resource or none of its labels.
TEST_F(LoggingApiTest, FindsWrittenEntriesByLabelsOfJobs) {
  const Json labels = {{"ml.googleapis.com/job_id", "j"}, {"ml.googleapis.com/trial_id", "2"}};
  for (const Json& resource :
       {kGlobal, Json{{"type", "ml_job"}, {"labels", {{"job_id", "other"}}}}}) {
    WriteOne({{"logName", "projects/p/logs/a"},
              {"resource", resource},
              {"labels", labels},
              {"textPayload", "x"}});
  }
  EXPECT_EQ(List("labels.\"ml.googleapis.com/job_id\"=\"j\"").size(), 2u);
  EXPECT_EQ(List("labels.\"ml.googleapis.com/trial_id\"=2").size(), 2u);
  EXPECT_EQ(List("labels.\"ml.googleapis.com/job_id\"=j AND resource.labels.job_id=other").size(),
            1u);
  EXPECT_EQ(List("resource.labels.job_id=j").size(), 0u);
}

TEST_F(LoggingApiTest, KeepsEveryMemberOfAnEntry) {
  const Json entry = {{"logName", "projects/p/logs/a"},
                      {"resource", {{"type", "global"}, {"labels", {{"project_id", "p"}}}}},
                      {"timestamp", "2022-02-09T11:00:00.123456789Z"},
                      {"severity", "ALERT"},
                      {"insertId", "mine"},
                      {"httpRequest",
                       {{"requestMethod", "GET"},
                        {"status", 200},
                        {"requestSize", "12"},
                        {"latency", "0.5s"},
                        {"cacheHit", true}}},
                      {"labels", {{"a", "b"}}},
                      {"operation", {{"id", "o"}, {"producer", "me"}, {"first", true}}},
                      {"trace", "projects/p/traces/1"},
                      {"spanId", "000000000000004a"},
                      {"traceSampled", true},
                      {"sourceLocation", {{"file", "f"}, {"line", "7"}, {"function", "g"}}},
                      {"split", {{"uid", "u"}, {"index", 0}, {"totalSplits", 2}}},
                      {"jsonPayload", {{"deep", {1, nullptr, {{"x", 1.5}}}}}}};
  ASSERT_EQ(WriteOne(entry).status, 200);
  Json read = List()[0];
  read.erase("receiveTimestamp");
  for (const auto& [name, value] : entry.items()) EXPECT_EQ(read[name], value) << name;
  EXPECT_EQ(read.size(), entry.size());
}

TEST_F(LoggingApiTest, TakesDefaultsAndOtherSpellings) {
  const Reply reply = WriteOne({{"text_payload", "x"},
                                {"labels", {{"b", "own"}}},
                                {"source_location", {{"line", 7}}},
                                {"severity", 400},
                                {"timestamp", "2022-02-09T13:00:00.5+01:00"}},
                               {{"log_name", "projects/p/logs/l"},
                                {"resource", kGlobal},
                                {"labels", {{"a", "all"}, {"b", "all"}}}});
  ASSERT_EQ(reply.status, 200) << reply.message();
  const Json entry = List()[0];
  EXPECT_EQ(entry["labels"], (Json{{"a", "all"}, {"b", "own"}}));
  EXPECT_EQ(entry["sourceLocation"], (Json{{"line", "7"}}));
  EXPECT_EQ(entry["severity"], "WARNING");
  EXPECT_EQ(entry["timestamp"], "2022-02-09T12:00:00.500000000Z");
  EXPECT_EQ(entry["textPayload"], "x");
}

TEST_F(LoggingApiTest, RefusesWhatIsNoEntryAndStoresNothingOfTheRequest) {
  const Json good = {{"logName", "projects/p/logs/a"}, {"resource", kGlobal}};
  const std::tuple<const char*, Json, const char*> cases[] = {
      {"bogus", 1, "Unknown name \"bogus\" at 'entries[1]'"},
      {"severity", "LOUD", "'entries[1].severity'"},
      {"timestamp", "yesterday", "'entries[1].timestamp'"},
      {"timestamp", "2022-02-10T12:00:01Z", "24 hours in the future"},
      {"textPayload", 7, "'entries[1].textPayload': it must be a string"},
      {"jsonPayload", "x", "it must be an object"},
      {"labels", {{"a", 1}}, "'entries[1].labels.a'"},
      {"httpRequest", {{"status", "many"}}, "'entries[1].httpRequest.status'"},
      {"httpRequest", {{"latency", "slow"}}, "a duration"},
      {"operation", {{"first", "yes"}}, "true or false"},
      {"logName", "projects/p/logs/", "Invalid log name"},
      {"logName", "projects/p/logs/a b", "Invalid log name"},
      {"logName", "planets/p/logs/a", "Invalid log name"},
      {"resource", {{"labels", Json::object()}}, "entries[1].resource.type"},
      {"textPayload", std::string(300'000, 'x'), "exceeds maximum size"},
  };
  for (const auto& [name, value, message] : cases) {
    Json bad = good;
    bad[name] = value;
    const Reply reply = Post("write", {{"entries", {good, bad}}});
    EXPECT_EQ(reply.status, 400) << name;
    EXPECT_EQ(StringOr(reply.body["error"], "status"), "INVALID_ARGUMENT") << name;
    EXPECT_THAT(reply.message(), HasSubstr(message));
  }
  EXPECT_THAT(WriteOne({{"textPayload", "a"}, {"jsonPayload", Json::object()}}).message(),
              HasSubstr("only one of"));
  EXPECT_EQ(List(), Json::array());
}

TEST_F(LoggingApiTest, StoresTheGoodOnesOfAPartialSuccessAndTellsOfTheOthers) {
  const Json good = {{"logName", "projects/p/logs/a"}, {"resource", kGlobal}, {"textPayload", "g"}};
  const Reply reply =
      Post("write", {{"partialSuccess", true}, {"entries", {good, {{"severity", "LOUD"}}}}});
  EXPECT_EQ(reply.status, 400);
  const Json& details = reply.body["error"]["details"][0];
  EXPECT_THAT(StringOr(details, "@type"), HasSubstr("WriteLogEntriesPartialErrors"));
  EXPECT_EQ(details["logEntryErrors"]["1"]["code"], 3);
  EXPECT_EQ(List().size(), 1u);
}

TEST_F(LoggingApiTest, ListsTheFirstHundredOfManyRefusedEntries) {
  const Reply reply =
      Post("write", {{"partialSuccess", true}, {"entries", std::vector<int>(500'000, 5)}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["error"]["details"][0]["logEntryErrors"].size(), 100u);
  EXPECT_THAT(reply.message(), HasSubstr("500000 entries are refused; the first 100 are listed"));
  EXPECT_LT(CompactJson(reply.body).size(), 50'000u);
}

// An entry with so many keys is too large, which the service sees when it has read all of them.
TEST_F(LoggingApiTest, ReadsManyKeysOfAnEntryInLinearTime) {
  const std::string start = R"({"resource":{"type":"global"},"logName":"projects/p/logs/a",)";
  const std::pair<const char*, const char*> places[] = {
      {R"("entries":[{"jsonPayload":)", "}]}"},
      {R"("entries":[{"labels":)", "}]}"},
      {R"("entries":[{}],"labels":)", "}"},
      {R"("entries":[{"labels":{"own":"v"}}],"labels":)", "}"}};
  for (const auto& place : places) {
    const auto body = [&](int keys) {
      return start + place.first + ObjectText(keys, R"("a value")") + place.second;
    };
    SCOPED_TRACE(place.first);
    ExpectLinearTime(20'000, body, [&](const std::string& text) {
      const Reply reply = Call("POST", "/v2/entries:write", text);
      EXPECT_EQ(reply.status, 400);
      EXPECT_THAT(reply.message(), HasSubstr("exceeds maximum size of 262144"));
    });
  }
  EXPECT_EQ(List(), Json::array());
}

// A request must not write a hundred times its own size.
TEST_F(LoggingApiTest, CountsWhatEachEntryTakesFromTheRequest) {
  Json request = {{"logName", "projects/p/logs/a"},
                  {"resource", kGlobal},
                  {"labels", {{"k", std::string(200'000, 'v')}}},
                  {"entries", std::vector<Json>(1000, Json::object())}};
  const Reply refused = Post("write", request);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.message(), HasSubstr("write fewer at a time"));
  EXPECT_EQ(List(), Json::array());
  request["entries"] = std::vector<Json>(10, Json::object());
  EXPECT_EQ(Post("write", request).status, 200);
}

TEST_F(LoggingApiTest, StoresNothingInADryRun) {
  const Json entry = {{"logName", "projects/p/logs/a"}, {"resource", kGlobal}};
  EXPECT_EQ(Post("write", {{"dryRun", true}, {"entries", {entry}}}).status, 200);
  EXPECT_EQ(List(), Json::array());
}

TEST_F(LoggingApiTest, PagesAreTiedToTheirRequest) {
  for (int i = 0; i < 5; ++i) {
    WriteOne({{"logName", "projects/p/logs/a"},
              {"resource", kGlobal},
              {"timestamp", Rfc3339(kApiNoon + seconds(i))},
              {"textPayload", std::to_string(i)}});
  }
  Json asked = {{"resourceNames", {"projects/p"}},
                {"orderBy", "timestamp desc"},
                {"pageSize", 2},
                {"filter", "log_id(a)"}};
  std::vector<std::string> texts;
  for (int page = 0; page < 9; ++page) {
    const Reply reply = Post("list", asked);
    ASSERT_EQ(reply.status, 200);
    for (const Json& entry : reply.body["entries"]) texts.push_back(entry["textPayload"]);
    if (!reply.body.contains("nextPageToken")) break;
    asked["pageToken"] = reply.body["nextPageToken"];
  }
  EXPECT_THAT(texts, ElementsAre("4", "3", "2", "1", "0"));
  asked["filter"] = "log_id(b)";
  EXPECT_THAT(Post("list", asked).message(), HasSubstr("doesn't match"));
  asked["pageToken"] = "x";
  EXPECT_THAT(Post("list", asked).message(), HasSubstr("page_token is invalid"));
}

TEST_F(LoggingApiTest, RefusesBrokenListRequests) {
  const std::pair<Json, const char*> cases[] = {
      {Json::object(), "resource_names"},
      {{{"resourceNames", {"planets/p"}}}, "Invalid resource name"},
      {{{"resourceNames", "projects/p"}}, "a list of strings"},
      {{{"resourceNames", {"projects/p"}}, {"pageSize", -1}}, "must not be negative"},
      {{{"resourceNames", {"projects/p"}}, {"orderBy", "severity"}}, "Invalid orderBy"},
      {{{"resourceNames", {"projects/p"}}, {"filter", "a=\"b"}}, "column 3"},
      {{{"resourceNames", {"projects/p"}}, {"bogus", 1}}, "Unknown name \"bogus\""},
  };
  for (const auto& [body, message] : cases) {
    const Reply reply = Post("list", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(reply.message(), HasSubstr(message)) << body;
  }
  EXPECT_EQ(Call("POST", "/v2/entries:list", "{broken").status, 400);
  EXPECT_EQ(
      Post("list", {{"resourceNames", {"projects/p/locations/global/buckets/mine/views/_AllLogs"}}})
          .status,
      404);
}

TEST_F(LoggingApiTest, ListsAndDeletesLogs) {
  for (const char* log : {"a", "b%2Fc", "d"}) {
    WriteOne({{"logName", std::string("projects/p/logs/") + log}, {"resource", kGlobal}});
  }
  Reply reply = Call("GET", "/v2/projects/p/logs?pageSize=2");
  EXPECT_EQ(reply.body["logNames"], Json({"projects/p/logs/a", "projects/p/logs/b%2Fc"}));
  reply = Call("GET",
               "/v2/projects/p/logs?pageSize=2&pageToken=" + StringOr(reply.body, "nextPageToken"));
  EXPECT_EQ(reply.body, (Json{{"logNames", {"projects/p/logs/d"}}}));
  EXPECT_EQ(Call("DELETE", "/v2/projects/p/logs/b%2Fc").status, 200);
  EXPECT_EQ(Call("DELETE", "/v2/projects/p/logs/b%2Fc").status, 404);
  EXPECT_EQ(List().size(), 2u);
  EXPECT_EQ(Call("GET", "/v2/projects/q/logs").body, Json::object());
}

TEST_F(LoggingApiTest, KeepsSinks) {
  const std::string sinks = "/v2/projects/p/sinks";
  EXPECT_EQ(Call("GET", sinks).body, Json::object());
  const Json sink = {{"name", "s"}, {"destination", "d"}, {"filter", "severity>=ERROR"}};
  EXPECT_EQ(Call("POST", sinks, CompactJson(sink)).status, 200);
  EXPECT_EQ(Call("POST", sinks, CompactJson(sink)).status, 409);
  const Reply changed =
      Call("PATCH", sinks + "/s?updateMask=filter", R"({"filter": "severity>=ALERT"})");
  EXPECT_EQ(changed.body["destination"], "d");
  EXPECT_EQ(Call("GET", sinks + "/s").body["filter"], "severity>=ALERT");
  EXPECT_EQ(Call("PUT", sinks + "/none", CompactJson(sink)).status, 404);
  EXPECT_EQ(Call("POST", sinks, R"({"name": "t", "destination": "d", "filter": "("})").status, 400);
  EXPECT_EQ(Call("POST", sinks, R"({"name": "t"})").status, 400);
  EXPECT_EQ(Call("GET", sinks).body["sinks"].size(), 1u);
  EXPECT_EQ(Call("DELETE", sinks + "/s").status, 200);
  EXPECT_EQ(Call("GET", sinks + "/s").status, 404);
  EXPECT_EQ(Call("PUT", "/v2/projects/p/metrics/m", R"({"filter": "x"})").status, 200);
}

TEST_F(LoggingApiTest, NamesWhatIsNotEmulated) {
  const Reply reply = Call("POST", "/v2/projects/p/locations/global/buckets", "{}");
  EXPECT_EQ(reply.status, 501);
  EXPECT_EQ(reply.message(), "logging.projects.locations.buckets.create is not emulated");
}

const char* const kGcloud = "gcloud/528.0.0 command/x invocation-id/abc environment/None";

Json StreamPoll(Instant until) {
  return {{"resourceNames", {"projects/p"}},
          {"filter", "resource.labels.job_id=\"j\" AND timestamp<\"" + Rfc3339(until, 6) + "\""}};
}

TEST_F(LoggingApiTest, RemembersHowFarARunOfGcloudHasReadAJobsLog) {
  Post("list", StreamPoll(kApiNoon - seconds(5)), kGcloud);
  EXPECT_EQ(readers_.ReadUpTo("abc", "p", "j"), kApiNoon - seconds(5));
  Post("list", StreamPoll(kApiNoon - seconds(4)), kGcloud);
  EXPECT_EQ(readers_.ReadUpTo("abc", "p", "j"), kApiNoon - seconds(4));
  EXPECT_FALSE(readers_.ReadUpTo("other", "p", "j"));
  EXPECT_FALSE(readers_.ReadUpTo("abc", "p", "k"));
  EXPECT_FALSE(readers_.ReadUpTo("", "p", "j"));
}

TEST_F(LoggingApiTest, ShowsAStreamWhatItWouldSeeHadTheServicesClockNotLeapt) {
  clock_.Advance(std::chrono::minutes(20));
  Entry entry;
  entry.project = "p";
  entry.job_id = "j";
  entry.task = "service";
  entry.timestamp = clock_.Now() - seconds(6);
  entry.message = "Job is queued.";
  book_->Append({entry});
  ASSERT_TRUE(book_->Flush().ok());
  const Json poll = StreamPoll(wall_.Now() - seconds(5));
  EXPECT_EQ(Post("list", poll, kGcloud).body["entries"].size(), 1u);
  EXPECT_EQ(Post("list", poll).body, Json::object());  // others mean what they say
  EXPECT_EQ(Post("list", StreamPoll(wall_.Now() - seconds(7)), kGcloud).body, Json::object());
}

TEST_F(LoggingApiTest, TailsEntriesAsAGrowingList) {
  http::Request request;
  request.method = "POST";
  request.path = "/v2/entries:tail";
  http::TextBody body(R"({"resourceNames": ["projects/p"], "filter": "severity>=ERROR"})");
  request.body = &body;
  const http::Response response = router_.Handle(request);
  ASSERT_EQ(response.status, 200);
  std::string text;
  response.write_body([&](std::string_view part) {
    text += part;
    if (text == "[") {
      for (const char* severity : {"ERROR", "INFO"}) {
        WriteOne({{"logName", "projects/p/logs/a"},
                  {"resource", kGlobal},
                  {"severity", severity},
                  {"textPayload", severity},
                  {"timestamp", Rfc3339(clock_.Now() + milliseconds(1), 9)}});
      }
      clock_.Advance(seconds(10));
    }
    return text.find('}') == text.npos;  // then the peer goes
  });
  const auto list = ParseJson(text.substr(0, text.rfind('}') + 1) + "]");
  ASSERT_TRUE(list.ok()) << text;
  ASSERT_EQ((*list)[0]["entries"].size(), 1u);
  EXPECT_EQ((*list)[0]["entries"][0]["textPayload"], "ERROR");
}

}  // namespace
}  // namespace caip::logging
