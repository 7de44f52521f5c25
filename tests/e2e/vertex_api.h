#pragma once
// Vertex AI of a running server, called over HTTP.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "http/client.h"
#include "tests/support/caip_command.h"

namespace caip::testing {

class VertexApi : public ::testing::Test {
 protected:
  static constexpr char kLocation[] = "/v1/projects/demo/locations/us-central1";
  static constexpr char kImage[] = "us-docker.pkg.dev/demo/trainers/";
  // Reports its first value as a decimal of the metric, as cloudml-hypertune writes it.
  static constexpr char kReporter[] =
      R"(sh -c 'echo "{\"accuracy\": \"0.$1\", \"global_step\": \"10\", )"
      R"(\"timestamp\": 1.5, \"trial\": \"$CLOUD_ML_TRIAL_ID\"}" > "$CLOUD_ML_HP_METRIC_FILE"')";

  void SetUp() override {
    const Transcript env =
        caip_.Run({"env", "--format", "json", "--map-image",
                   std::string(kImage) + "probe=sh -c 'env; exit 0'", "--map-image",
                   std::string(kImage) + "bad=sh -c 'echo no; exit 3'", "--map-image",
                   std::string(kImage) + "sleep=sleep 1000", "--map-image",
                   std::string(kImage) + "report=" + kReporter});
    ASSERT_EQ(env.exit_code, 0) << env.err;
    variables_ = *ParseJson(env.out);
    client_ = std::make_unique<http::Client>(StringOr(variables_, "STORAGE_EMULATOR_HOST"));
  }

  struct Answer {
    int status;
    Json body;
    std::string Text(const char* name) const { return StringOr(body, name); }
  };
  Answer Ask(const std::string& method, const std::string& target, const Json& body = nullptr) {
    http::ClientRequest request;
    request.method = method;
    request.target = target;
    if (!body.is_null()) request.body = CompactJson(body);
    const auto response = client_->Send(request);
    EXPECT_TRUE(response.ok());
    auto parsed = ParseJson(response.ok() ? response->body : "null");
    return {response.ok() ? response->status : 0, parsed.ok() ? *parsed : Json()};
  }
  Answer Create(const Json& job) {
    return Ask("POST", std::string(kLocation) + "/customJobs", job);
  }
  // Waits for the end of the resource with that name.
  Json AwaitEnd(const std::string& name) {
    for (;;) {
      const Answer answer = Ask("GET", "/v1/" + name);
      const std::string state = answer.Text("state");
      for (const char* end : {"_SUCCEEDED", "_FAILED", "_CANCELLED"}) {
        if (answer.status != 200 || state.ends_with(end)) return answer.body;
      }
    }
  }
  static std::string IdOf(const std::string& name) { return name.substr(name.rfind('/') + 1); }

  static Json JobSpec(const std::string& program, int replicas = 1) {
    const auto pool = [&](int count) {
      return Json{{"machineSpec", {{"machineType", "n1-standard-4"}}},
                  {"replicaCount", std::to_string(count)},
                  {"containerSpec", {{"imageUri", kImage + program}}}};
    };
    Json pools = Json::array({pool(1)});
    if (replicas > 1) pools.push_back(pool(replicas - 1));
    return {{"workerPoolSpecs", std::move(pools)}};
  }
  static Json Job(const std::string& program, int replicas = 1) {
    return {{"displayName", program + " job"}, {"jobSpec", JobSpec(program, replicas)}};
  }

  static Json TuningJob() {
    return {
        {"displayName", "study"},
        {"studySpec",
         {{"metrics", Json::array({{{"metricId", "accuracy"}, {"goal", "MAXIMIZE"}}})},
          {"parameters", Json::array({{{"parameterId", "layers"},
                                       {"integerValueSpec", {{"minValue", 1}, {"maxValue", 3}}}}})},
          {"algorithm", "GRID_SEARCH"}}},
        {"maxTrialCount", 3},
        {"parallelTrialCount", 2},
        {"trialJobSpec", JobSpec("report")}};
  }

  CaipCommand caip_;
  Json variables_;
  std::unique_ptr<http::Client> client_;
};

}  // namespace caip::testing
