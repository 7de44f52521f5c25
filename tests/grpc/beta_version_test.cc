// The services of Vertex AI's v1beta1, which are made from those of v1.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "grpc/schema.h"

namespace caip::grpc {
namespace {

using ::testing::HasSubstr;

const std::string kStable = "google.cloud.aiplatform.v1.";
const std::string kBeta = "google.cloud.aiplatform.v1beta1.";

// The message as JSON after it was bytes.
Json OverGrpc(const std::string& type, const Json& message) {
  const auto bytes = Schema::Served().FromJson(type, CompactJson(message));
  if (!bytes.ok()) return bytes.error().message;
  const auto json = Schema::Served().ToJson(type, *bytes);
  return json.ok() ? *ParseJson(*json) : Json(json.error().message);
}

TEST(BetaVersion, HasTheMethodsOfV1WithPathsOfItsOwn) {
  int count = 0;
  for (const char* method :
       {"JobService/CreateCustomJob", "JobService/ListHyperparameterTuningJobs",
        "JobService/CancelCustomJob", "JobService/GetNasJob",
        "PipelineService/DeleteTrainingPipeline"}) {
    const Method* const stable = Schema::Served().Find("/" + kStable + method);
    const Method* const beta = Schema::Served().Find("/" + kBeta + method);
    ASSERT_TRUE(stable && beta) << method;
    ASSERT_EQ(beta->rules.size(), stable->rules.size()) << method;
    for (size_t i = 0; i < beta->rules.size(); ++i, ++count) {
      EXPECT_EQ(beta->rules[i].verb, stable->rules[i].verb);
      EXPECT_EQ(beta->rules[i].body, stable->rules[i].body);
      EXPECT_EQ(beta->rules[i].pattern, "/v1beta1" + stable->rules[i].pattern.substr(3));
    }
    EXPECT_EQ(beta->input, kBeta + stable->input.substr(kStable.size()));
  }
  EXPECT_GE(count, 5);
}

TEST(BetaVersion, HasTheMessagesOfV1) {
  const Json pool = {{"machineSpec", {{"machineType", "n1-standard-4"}}},
                     {"replicaCount", "1"},
                     {"containerSpec", {{"imageUri", "i"}, {"env", {{{"name", "A"}}}}}}};
  const Json job = {
      {"displayName", "x"},
      {"jobSpec", {{"workerPoolSpecs", {pool}}, {"scheduling", {{"strategy", "SPOT"}}}}},
      {"state", "JOB_STATE_PENDING"},
      {"labels", {{"a", "b"}}}};
  EXPECT_EQ(OverGrpc(kBeta + "CreateCustomJobRequest", {{"parent", "p"}, {"customJob", job}}),
            (Json{{"parent", "p"}, {"customJob", job}}));
  EXPECT_EQ(OverGrpc("google.longrunning.Operation",
                     {{"metadata",
                       {{"@type", "type.googleapis.com/" + kBeta + "DeleteOperationMetadata"},
                        {"genericMetadata", {{"createTime", "2026-01-02T03:04:05Z"}}}}}}),
            (Json{{"metadata",
                   {{"@type", "type.googleapis.com/" + kBeta + "DeleteOperationMetadata"},
                    {"genericMetadata", {{"createTime", "2026-01-02T03:04:05Z"}}}}}}));
}

TEST(BetaVersion, HasFieldsThatV1DoesNotHave) {
  const Json study = {{"convexStopConfig",
                       {{"maxNumSteps", "1"},
                        {"minNumSteps", "2"},
                        {"autoregressiveOrder", "3"},
                        {"learningRateParameterName", "rate"},
                        {"useSeconds", true}}},
                      {"transferLearningConfig",
                       {{"disableTransferLearning", true}, {"priorStudyNames", {"a", "b"}}}}};
  const Json machine = {{"multihostGpuNodeCount", 2}, {"minGpuDriverVersion", "550"}};
  EXPECT_EQ(OverGrpc(kBeta + "StudySpec", study), study);
  EXPECT_EQ(OverGrpc(kBeta + "MachineSpec", machine), machine);
  const auto bytes = Schema::Served().FromJson(kBeta + "MachineSpec", CompactJson(machine));
  const auto stable = Schema::Served().ToJson(kStable + "MachineSpec", *bytes);
  ASSERT_FALSE(stable.ok()) << *stable;
  EXPECT_THAT(stable.error().message, HasSubstr("Field number 6"));
}

}  // namespace
}  // namespace caip::grpc
