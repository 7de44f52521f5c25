// docs/service/vertex.md, section 3: fields that only v1beta1 has.

#include "vertex/beta_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::vertex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> FieldsOf(const std::vector<FieldViolation>& violations) {
  std::vector<std::string> fields;
  for (const FieldViolation& violation : violations) {
    EXPECT_THAT(violation.description, HasSubstr("caip does not serve"));
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(BetaFields, AreNamedWithTheirPlaceInEitherSpelling) {
  Json job = *ParseJson(R"({"displayName": "x", "jobSpec": {"workerPoolSpecs": [
      {"machineSpec": {"machineType": "a", "minGpuDriverVersion": "550"}},
      {"machine_spec": {"multihost_gpu_node_count": 2}}]}})");
  EXPECT_THAT(FieldsOf(TakeBetaFields(job)),
              ElementsAre("job_spec.worker_pool_specs[0].machine_spec.min_gpu_driver_version",
                          "job_spec.worker_pool_specs[1].machine_spec.multihost_gpu_node_count"));
  EXPECT_EQ(job, *ParseJson(R"({"displayName": "x", "jobSpec": {"workerPoolSpecs": [
      {"machineSpec": {"machineType": "a"}}, {"machine_spec": {}}]}})"));
}

TEST(BetaFields, OfAStudyAreNamedEvenIfTheyAreEmptyMessages) {
  Json job = *ParseJson(R"({"studySpec": {"algorithm": 2, "transferLearningConfig": {},
      "convexStopConfig": {"maxNumSteps": "3"}}, "trialJobSpec": {}})");
  EXPECT_THAT(FieldsOf(TakeBetaFields(job)),
              ElementsAre("study_spec.transfer_learning_config", "study_spec.convex_stop_config"));
  EXPECT_EQ(job, *ParseJson(R"({"studySpec": {"algorithm": 2}, "trialJobSpec": {}})"));
}

TEST(BetaFields, OfAPipelineAreInItsInputs) {
  Json pipeline = *ParseJson(R"({"trainingTaskInputs": {"worker_pool_specs": [
      {"machine_spec": {"min_gpu_driver_version": "550"}}]}})");
  EXPECT_THAT(FieldsOf(TakeBetaFields(pipeline)),
              ElementsAre("training_task_inputs.worker_pool_specs[0].machine_spec."
                          "min_gpu_driver_version"));
}

TEST(BetaFields, WithTheirDefaultsAreAbsent) {
  Json spec = *ParseJson(R"({"machineSpec": {"minGpuDriverVersion": "",
      "multihostGpuNodeCount": 0, "multihost_gpu_node_count": null}})");
  EXPECT_THAT(TakeBetaFields(spec), IsEmpty());
  EXPECT_EQ(spec, *ParseJson(R"({"machineSpec": {}})"));
}

TEST(BetaFields, ElsewhereAreLeftToTheRulesOfV1) {
  const Json job = *ParseJson(R"({"labels": {"min_gpu_driver_version": "1"},
      "jobSpec": {"minGpuDriverVersion": "1"}, "transferLearningConfig": {}})");
  Json taken = job;
  EXPECT_THAT(TakeBetaFields(taken), IsEmpty());
  EXPECT_EQ(taken, job);
}

}  // namespace
}  // namespace caip::vertex
