#pragma once
// Tuning jobs as clients send them, to begin with.

#include "tests/vertex/a_custom_job.h"
#include "vertex/schema/tuning_job_json.h"

namespace caip::vertex {

/// Three trials, one at a time, of one replica; all four kinds of parameters and a condition.
inline Json AStudyJob() {
  Json job = FromText(R"({
    "displayName": "study",
    "studySpec": {
      "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
      "parameters": [
        {"parameterId": "rate", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1},
         "scaleType": "UNIT_LOG_SCALE"},
        {"parameterId": "units", "integerValueSpec": {"minValue": "8", "maxValue": "64"}},
        {"parameterId": "batch", "discreteValueSpec": {"values": [16, 32, 64]}},
        {"parameterId": "optimizer", "categoricalValueSpec": {"values": ["sgd", "adam"]},
         "conditionalParameterSpecs": [{
           "parentCategoricalValues": {"values": ["sgd"]},
           "parameterSpec": {"parameterId": "momentum",
                             "discreteValueSpec": {"values": [0, 0.5, 0.9]}}}]}],
      "algorithm": "RANDOM_SEARCH"},
    "maxTrialCount": 3,
    "parallelTrialCount": 1})");
  job["trialJobSpec"] = AContainerJob()["jobSpec"];
  return job;
}

/// The same with one parameter "layers" from 1 to 9, searched as a grid: trial N has N layers.
inline Json AGridStudyJob() {
  Json job = AStudyJob();
  job["studySpec"]["algorithm"] = "GRID_SEARCH";
  job["studySpec"]["parameters"] = FromText(
      R"([{"parameterId": "layers", "integerValueSpec": {"minValue": 1, "maxValue": 9}}])");
  return job;
}

inline TuningJob ParsedStudy(const Json& body) {
  Result<TuningJob> job = ParseTuningJob(body);
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().message);
  return job.ok() ? *job : TuningJob{};
}

}  // namespace caip::vertex
