#include "grpc/transcoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/encoding.h"
#include "base/json.h"
#include "grpc/schema.h"
#include "tests/grpc/a_call.h"

namespace caip::grpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Metadata = std::vector<std::pair<std::string, std::string>>;

constexpr char kJobService[] = "/google.cloud.aiplatform.v1.JobService/";
constexpr char kPipelineService[] = "/google.cloud.aiplatform.v1.PipelineService/";
constexpr char kMessages[] = "google.cloud.aiplatform.v1.";

std::string Message(const std::string& type, const Json& json) {
  auto bytes = Schema::Served().FromJson(type, CompactJson(json));
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  return FrameMessage(*bytes);
}

// The REST API: it remembers one request, and gives one answer.
struct FakeRest {
  http::Response answer = http::JsonResponse(200, "{}");
  http::Request seen = {};
  std::string body = {};
  int count = 0;

  http::Response Call(const ACall& call) {
    const auto rest = [this](const http::Request& request) {
      ++count;
      seen = request;
      body = *request.ReadBody(1 << 20);
      return answer;
    };
    const auto next = [](const http::Request&) { return http::JsonResponse(200, "\"next\""); };
    return WithGrpc(rest, next, nullptr)(call.request);
  }
  http::Response Call(const std::string& path, const std::string& bytes,
                      const Metadata& metadata = {}) {
    const ACall call(bytes, metadata, path);
    return Call(call);
  }
};

std::string StatusOf(const http::Response& response) {
  const http::Headers& fields = response.trailers ? *response.trailers : response.headers;
  return std::string(fields.Get("grpc-status"));
}

// The message of a response as JSON.
Json JsonOf(const http::Response& response, const std::string& type) {
  EXPECT_EQ(StatusOf(response), "0") << response.headers.Get("grpc-message");
  if (response.body.size() < 5) return {};
  return *ParseJson(*Schema::Served().ToJson(type, response.body.substr(5)));
}

Json AJob() {
  const Json pool = {{"machineSpec", {{"machineType", "n1-standard-4"}}},
                     {"replicaCount", "1"},
                     {"containerSpec", {{"imageUri", "i"}, {"args", {"a", "b"}}}}};
  return {{"displayName", "x"},
          {"jobSpec", {{"workerPoolSpecs", {pool}}, {"scheduling", {{"timeout", "60s"}}}}}};
}

TEST(Transcoder, TurnsACallIntoARequestAndItsAnswerIntoAMessage) {
  FakeRest rest;
  Json job = AJob();
  job["name"] = "projects/1/locations/us-central1/customJobs/5";
  job["state"] = "JOB_STATE_PENDING";
  job["createTime"] = "2026-01-02T03:04:05.678901Z";
  rest.answer = http::JsonResponse(200, PrettyJson(job));
  const auto response =
      rest.Call(std::string(kJobService) + "CreateCustomJob",
                Message(std::string(kMessages) + "CreateCustomJobRequest",
                        {{"parent", "projects/p/locations/us-central1"}, {"customJob", AJob()}}),
                {{"authorization", "Bearer t"}, {"x-goog-api-client", "gl"}, {"te", "trailers"}});
  EXPECT_EQ(rest.seen.method, "POST");
  EXPECT_EQ(rest.seen.path, "/v1/projects/p/locations/us-central1/customJobs");
  EXPECT_EQ(*ParseJson(rest.body), AJob());
  EXPECT_EQ(rest.seen.host, "us-central1-aiplatform.googleapis.com");
  EXPECT_EQ(rest.seen.peer, "127.0.0.1:5");
  EXPECT_EQ(rest.seen.headers.Get("Authorization"), "Bearer t");
  EXPECT_EQ(rest.seen.headers.Get("x-goog-api-client"), "gl");
  EXPECT_FALSE(rest.seen.headers.Has("te"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.Get("content-type"), "application/grpc");
  EXPECT_EQ(JsonOf(response, std::string(kMessages) + "CustomJob"), job);
}

TEST(Transcoder, TurnsFieldsOfAListIntoItsQuery) {
  FakeRest rest;
  rest.answer =
      http::JsonResponse(200, R"({"customJobs":[{"displayName":"a"}],"nextPageToken":"n"})");
  const auto response = rest.Call(std::string(kJobService) + "ListCustomJobs",
                                  Message(std::string(kMessages) + "ListCustomJobsRequest",
                                          {{"parent", "projects/p/locations/l"},
                                           {"filter", "state=\"X\""},
                                           {"pageSize", 7},
                                           {"readMask", "name,displayName"}}));
  EXPECT_EQ(rest.seen.method, "GET");
  EXPECT_THAT(rest.seen.query, ElementsAre(Pair("filter", "state=\"X\""), Pair("pageSize", "7"),
                                           Pair("readMask", "name,displayName")));
  EXPECT_EQ(rest.body, "");
  const Json list = JsonOf(response, std::string(kMessages) + "ListCustomJobsResponse");
  EXPECT_EQ(list["customJobs"][0]["displayName"], "a");
  EXPECT_EQ(list["nextPageToken"], "n");
}

TEST(Transcoder, KeepsTheInputsOfAPipelineWhichAreAnyJson) {
  FakeRest rest;
  const Json inputs = {{"workerPoolSpecs", {{{"replica_count", 1}, {"x", nullptr}}}}, {"b", true}};
  rest.answer = http::JsonResponse(200, CompactJson(Json{{"trainingTaskInputs", inputs}}));
  const auto response = rest.Call(
      std::string(kPipelineService) + "CreateTrainingPipeline",
      Message(std::string(kMessages) + "CreateTrainingPipelineRequest",
              {{"parent", "projects/p/locations/l"},
               {"trainingPipeline", {{"displayName", "x"}, {"trainingTaskInputs", inputs}}}}));
  EXPECT_EQ((*ParseJson(rest.body))["trainingTaskInputs"], inputs);
  EXPECT_EQ(JsonOf(response, std::string(kMessages) + "TrainingPipeline")["trainingTaskInputs"],
            inputs);
}

TEST(Transcoder, ServesOperationsAtThePathOfTheService) {
  FakeRest rest;
  rest.answer = http::JsonResponse(200,
                                   R"({"name":"projects/1/locations/l/operations/2","done":true,
          "metadata":{"@type":
                        "type.googleapis.com/google.cloud.aiplatform.v1.DeleteOperationMetadata",
                      "genericMetadata":{"createTime":"2026-01-02T03:04:05Z"}},
          "response":{"@type":"type.googleapis.com/google.protobuf.Empty"}})");
  const auto response = rest.Call("/google.longrunning.Operations/GetOperation",
                                  Message("google.longrunning.GetOperationRequest",
                                          {{"name", "projects/1/locations/l/operations/2"}}));
  EXPECT_EQ(rest.seen.path, "/ui/projects/1/locations/l/operations/2");
  const Json operation = JsonOf(response, "google.longrunning.Operation");
  EXPECT_EQ(operation["metadata"]["genericMetadata"]["createTime"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(operation["response"]["@type"], "type.googleapis.com/google.protobuf.Empty");
}

TEST(Transcoder, TurnsAnErrorIntoAStatusWithItsDetails) {
  FakeRest rest;
  rest.answer = http::JsonResponse(400, R"({"error":{"code":400,"message":"Not ä valid 50% job.\n",
      "status":"FAILED_PRECONDITION",
      "details":[{"@type":"type.googleapis.com/google.rpc.BadRequest",
      "fieldViolations":[{"field":"a","description":"b"}]}]}})");
  const auto response = rest.Call(std::string(kJobService) + "GetCustomJob",
                                  Message(std::string(kMessages) + "GetCustomJobRequest",
                                          {{"name", "projects/p/locations/l/customJobs/1"}}));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(StatusOf(response), "9");
  EXPECT_EQ(response.headers.Get("grpc-message"), "Not %C3%A4 valid 50%25 job.%0A");
  const auto details = FromBase64(response.headers.Get("grpc-status-details-bin"));
  ASSERT_TRUE(details);
  const Json status = *ParseJson(*Schema::Served().ToJson("google.rpc.Status", *details));
  EXPECT_EQ(status["code"], 9);
  EXPECT_EQ(status["message"], "Not ä valid 50% job.\n");
  EXPECT_EQ(status["details"][0]["fieldViolations"][0]["field"], "a");
}

TEST(Transcoder, BoundsTheSizeOfAStatus) {
  FakeRest rest;
  const std::string name = Message(std::string(kMessages) + "GetCustomJobRequest",
                                   {{"name", "projects/p/locations/l/customJobs/1"}});
  const auto error = [](const std::string& message) {
    const Json detail = {{"@type", "type.googleapis.com/google.rpc.DebugInfo"}, {"detail", "x"}};
    return http::JsonResponse(
        404, CompactJson(Json{{"error", {{"message", message}, {"details", {detail}}}}}));
  };
  rest.answer = error(std::string(6000, 'x'));
  auto response = rest.Call(std::string(kJobService) + "GetCustomJob", name);
  EXPECT_EQ(StatusOf(response), "5");
  EXPECT_EQ(response.headers.Get("grpc-message").size(), 6000u);
  EXPECT_FALSE(response.headers.Has("grpc-status-details-bin"));
  std::string long_text = "x";
  for (int i = 0; i < 4000; ++i) long_text += "ä";
  rest.answer = error(long_text);
  response = rest.Call(std::string(kJobService) + "GetCustomJob", name);
  const auto message = PercentDecoded(response.headers.Get("grpc-message"));
  EXPECT_LE(response.headers.Get("grpc-message").size(), 7000u);
  EXPECT_GE(response.headers.Get("grpc-message").size(), 6950u);
  EXPECT_THAT(*message, HasSubstr("ä [cut]"));
}

TEST(Transcoder, RefusesCallsThatItCannotServe) {
  const std::string name = Message(std::string(kMessages) + "GetCustomJobRequest",
                                   {{"name", "projects/p/locations/l/customJobs/1"}});
  const std::string get = std::string(kJobService) + "GetCustomJob";
  const struct {
    std::string path;
    std::string bytes;
    Metadata metadata;
    std::string status;
    std::string text;
  } cases[] = {
      {"/google.storage.v2.Storage/GetBucket",
       name,
       {},
       "12",
       "google.logging.v2.LoggingServiceV2"},
      {std::string(kJobService) + "Unknown", name, {}, "12", "JobService/Unknown' is not"},
      {get, name, {{"content-type", "application/grpc+json"}}, "12", "application/grpc+json"},
      {get, name, {{"grpc-timeout", "1x"}}, "13", "'1x' is not a valid grpc-timeout"},
      {get, name, {{"grpc-timeout", "123456789S"}}, "13", "at most 8 digits"},
      {get, FrameMessage("\xff\xff"), {}, "13", "not a valid google.cloud.aiplatform.v1.Get"},
      {get, FrameMessage(std::string("\xfa\x3f\x01x", 4)), {}, "3", "Field number 1023 of"},
      {get, FrameMessage(""), {}, "3", "'' is not a valid value of name."},
      {get, name.substr(0, 9), {}, "13", "ends before"},
  };
  for (const auto& test : cases) {
    FakeRest rest;
    const auto response = rest.Call(test.path, test.bytes, test.metadata);
    EXPECT_EQ(rest.count, 0);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(StatusOf(response), test.status) << test.path;
    const std::string message = *PercentDecoded(response.headers.Get("grpc-message"));
    EXPECT_THAT(message, HasSubstr(test.text));
  }
}

TEST(Transcoder, RefusesUnknownFieldsOfMessagesInside) {
  FakeRest rest;
  // custom_job { job_spec { worker_pool_specs { 1023: "x" } } }
  const std::string bytes = std::string("\x12\x08\x22\x06\x0a\x04\xfa\x3f\x01x", 10);
  const auto response =
      rest.Call(std::string(kJobService) + "CreateCustomJob", FrameMessage(bytes));
  EXPECT_EQ(StatusOf(response), "3");
  EXPECT_THAT(std::string(response.headers.Get("grpc-message")),
              HasSubstr("Field number 1023 of google.cloud.aiplatform.v1.WorkerPoolSpec"));
}

TEST(Transcoder, StreamsTheElementsOfAnArray) {
  FakeRest rest;
  int count = 0;
  rest.answer.write_body = [&](const http::Response::Sink& sink) {
    for (const char* piece : {"[", "{\"entr", "ies\":[{\"textPayload\":\"}\\\"{\"}]}\n", "\n",
                              ",{\"entries\":[{\"insertId\":\"2\"}]}", ",{}]"}) {
      if (!sink(piece)) return;
      ++count;
    }
  };
  const std::string request =
      Message("google.logging.v2.TailLogEntriesRequest", {{"filter", "a=\"b\""}});
  const auto call = [&] {  // a further message, because the client may keep its side open
    return rest.Call("/google.logging.v2.LoggingServiceV2/TailLogEntries", request + request);
  };
  auto response = call();
  EXPECT_EQ(rest.seen.path, "/v2/entries:tail");
  EXPECT_EQ(rest.body, R"({"filter":"a=\"b\""})");
  std::vector<std::string> messages;
  response.write_body([&](std::string_view piece) {
    if (!piece.empty()) messages.emplace_back(piece.substr(5));
    return true;
  });
  EXPECT_EQ(StatusOf(response), "0");
  ASSERT_EQ(messages.size(), 3u);
  const auto text = [&](size_t at) {
    return *ParseJson(
        *Schema::Served().ToJson("google.logging.v2.TailLogEntriesResponse", messages[at]));
  };
  EXPECT_EQ(text(0)["entries"][0]["textPayload"], "}\"{");
  EXPECT_EQ(text(1)["entries"][0]["insertId"], "2");
  EXPECT_EQ(text(2), Json::object());
  count = 0;
  call().write_body([](std::string_view) { return false; });
  EXPECT_EQ(count, 0);
}

TEST(Transcoder, RefusesAnAnswerThatHasNoFormAsTheMessage) {
  FakeRest rest;
  rest.answer = http::JsonResponse(200, R"({"displayName":[1]})");
  const auto response = rest.Call(std::string(kJobService) + "GetCustomJob",
                                  Message(std::string(kMessages) + "GetCustomJobRequest",
                                          {{"name", "projects/p/locations/l/customJobs/1"}}));
  EXPECT_EQ(StatusOf(response), "13");
  EXPECT_THAT(std::string(response.headers.Get("grpc-message")), HasSubstr("has no form as"));
}

TEST(Transcoder, HandsOtherRequestsOn) {
  FakeRest rest;
  for (const char* type : {"application/json", "application/grpc-web", ""}) {
    ACall call("", {{"content-type", type}});
    EXPECT_FALSE(IsCall(call.request)) << type;
    EXPECT_EQ(rest.Call(call).body, "\"next\"");
  }
  ACall http11("");
  http11.request.is_http2 = false;
  EXPECT_FALSE(IsCall(http11.request));
}

TEST(Transcoder, ReportsCallsThatEndWithoutARequest) {
  std::vector<std::string> seen;
  const auto handler =
      WithGrpc(nullptr, nullptr, [&](const http::Request& request, const http::Response& response) {
        seen.push_back(request.path + " " + std::to_string(response.status));
      });
  const ACall call(FrameMessage(""), {}, "/a.B/C");
  handler(call.request);
  EXPECT_THAT(seen, ElementsAre("/a.B/C 501"));
}

TEST(Transcoder, TurnsAnExceptionIntoAStatus) {
  const auto fails = [](const http::Request&) -> http::Response {
    throw std::runtime_error("broken");
  };
  const std::string get = std::string(kJobService) + "GetCustomJob";
  const std::string name = Message(std::string(kMessages) + "GetCustomJobRequest",
                                   {{"name", "projects/p/locations/l/customJobs/1"}});
  const ACall call(name, {}, get);
  const auto response = WithGrpc(fails, nullptr, nullptr)(call.request);
  EXPECT_EQ(StatusOf(response), "13");
  EXPECT_THAT(std::string(response.headers.Get("grpc-message")), HasSubstr("broken"));
  FakeRest rest;
  rest.answer.write_body = [](const http::Response::Sink&) { throw std::runtime_error("cut"); };
  const auto tail =
      rest.Call("/google.logging.v2.LoggingServiceV2/TailLogEntries", FrameMessage(""));
  tail.write_body([](std::string_view) { return true; });
  EXPECT_EQ(StatusOf(tail), "13");
}

TEST(LimitOf, ReadsTheTimeoutOfACall) {
  const auto seconds_of = [](const std::string& timeout) {
    const ACall call("", {{"grpc-timeout", timeout}});
    const auto limit = LimitOf(call.request);
    if (!limit) return -1.0;
    EXPECT_EQ(StatusOf(limit->answer), "4");
    EXPECT_EQ(limit->trailers->Get("grpc-status"), "4");
    return std::chrono::duration<double>(limit->at - MonotonicNow()).count();
  };
  EXPECT_NEAR(seconds_of("2H"), 7200, 5);
  EXPECT_NEAR(seconds_of("3M"), 180, 5);
  EXPECT_NEAR(seconds_of("20S"), 20, 5);
  EXPECT_NEAR(seconds_of("20000m"), 20, 5);
  EXPECT_NEAR(seconds_of("20000000u"), 20, 5);
  EXPECT_NEAR(seconds_of("99999999n"), 0.1, 5);
  EXPECT_GT(seconds_of("99999999H"), 1e8);
  EXPECT_EQ(seconds_of("S"), -1);
  EXPECT_EQ(seconds_of("-1S"), -1);
  EXPECT_EQ(seconds_of(""), -1);
}

TEST(RenderOwnAnswer, MakesAStatusForCallsOnly) {
  ACall call("");
  const auto refusal = http::JsonResponse(403, R"({"error":{"message":"No.","status":"X"}})");
  const auto rendered = RenderOwnAnswer(call.request, refusal);
  EXPECT_EQ(StatusOf(rendered), "7");
  EXPECT_EQ(rendered.headers.Get("grpc-message"), "No.");
  EXPECT_EQ(StatusOf(RenderOwnAnswer(call.request, http::JsonResponse(431, "{}"))), "8");
  call.request.is_http2 = false;
  EXPECT_EQ(RenderOwnAnswer(call.request, refusal).status, 403);
  EXPECT_THAT(std::string(RenderOwnAnswer(call.request, refusal).headers.Get("grpc-status")),
              IsEmpty());
}

TEST(Schema, HasARuleForEachMethodThatDoesNotStream) {
  const Schema& schema = Schema::Served();
  EXPECT_THAT(
      schema.ServiceNames(),
      ::testing::UnorderedElementsAre(
          "google.cloud.aiplatform.v1.JobService", "google.cloud.aiplatform.v1.PipelineService",
          "google.cloud.aiplatform.v1beta1.JobService",
          "google.cloud.aiplatform.v1beta1.PipelineService", "google.logging.v2.LoggingServiceV2",
          "google.logging.v2.ConfigServiceV2", "google.logging.v2.MetricsServiceV2",
          "google.longrunning.Operations"));
  for (const char* name : {"CreateCustomJob", "ListHyperparameterTuningJobs", "DeleteCustomJob"}) {
    const Method* const method = schema.Find(kJobService + std::string(name));
    ASSERT_NE(method, nullptr) << name;
    EXPECT_FALSE(method->rules.empty()) << name;
  }
}

}  // namespace
}  // namespace caip::grpc
