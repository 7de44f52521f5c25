#pragma once
// Custom jobs as clients send them, to begin with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/validate/validate.h"

namespace caip::vertex {

inline Json FromText(std::string_view text) {
  Result<Json> parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

/// One replica that runs an image.
inline Json AContainerJob() {
  return FromText(R"({
    "displayName": "census",
    "jobSpec": {"workerPoolSpecs": [{
      "machineSpec": {"machineType": "n1-standard-4"},
      "replicaCount": "1",
      "containerSpec": {"imageUri": "us-docker.pkg.dev/p/images/train:v1",
                        "args": ["--epochs=2"]}}]}})");
}

/// One replica that runs a module of a package.
inline Json APackageJob() {
  return FromText(R"({
    "displayName": "census",
    "jobSpec": {"workerPoolSpecs": [{
      "machineSpec": {"machineType": "n1-standard-4"},
      "replicaCount": "1",
      "pythonPackageSpec": {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest",
        "packageUris": ["gs://bkt/trainer-0.1.tar.gz"],
        "pythonModule": "trainer.task",
        "args": ["--epochs", "2"]}}]}})");
}

/// The first pool of `job` again, with `count` replicas.
inline Json PoolLike(const Json& job, int count) {
  Json pool = job["jobSpec"]["workerPoolSpecs"][0];
  pool["replicaCount"] = std::to_string(count);
  return pool;
}

/// `job` with further pools; a count of 0 skips a pool.
inline Json WithPools(Json job, const std::vector<int>& counts) {
  for (const int count : counts) {
    const Json pool = count == 0 ? Json::object() : PoolLike(job, count);
    job["jobSpec"]["workerPoolSpecs"].push_back(pool);
  }
  return job;
}

inline CustomJob Parsed(const Json& body) {
  Result<CustomJob> job = ParseCustomJob(body);
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().message);
  return job.ok() ? *job : CustomJob{};
}

inline std::vector<std::string> Told(const std::vector<FieldViolation>& violations) {
  std::vector<std::string> told;
  for (const FieldViolation& violation : violations) {
    told.push_back(violation.field + ": " + violation.description);
  }
  return told;
}

}  // namespace caip::vertex
