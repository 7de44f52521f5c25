// Vertex AI on a running server by its other names: the version v1beta1, and the number of the
// project (docs/service/vertex.md, section 1).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/vertex_api.h"

namespace caip::testing {
namespace {

using ::testing::StartsWith;

class VertexNames : public VertexApi {};

TEST_F(VertexNames, OfTheBetaVersionMeanTheSameJobs) {
  const std::string beta = "/v1beta1/projects/demo/locations/us-central1/customJobs";
  Json job = Job("probe");
  job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["minGpuDriverVersion"] = "550";
  const Answer refused = Ask("POST", beta, job);
  EXPECT_EQ(refused.status, 501);
  EXPECT_THAT(StringOr(refused.body["error"], "message"),
              StartsWith("job_spec.worker_pool_specs[0].machine_spec.min_gpu_driver_version: "));
  EXPECT_EQ(Create(job).status, 400) << "v1 does not have the field";

  const Answer created = Ask("POST", beta, Job("probe"));
  ASSERT_EQ(created.status, 200) << created.body;
  AwaitEnd(created.Text("name"));
  const Answer deleted = Ask("DELETE", "/v1beta1/" + created.Text("name"));
  EXPECT_EQ(StringOr(deleted.body["metadata"], "@type"),
            "type.googleapis.com/google.cloud.aiplatform.v1beta1.DeleteOperationMetadata");
  EXPECT_EQ(Ask("GET", "/v1/" + created.Text("name")).status, 404);
}

TEST_F(VertexNames, MayHaveTheNumberOfTheProject) {
  const std::string by_number = "/v1/projects/123456789012/locations/us-central1/customJobs";
  const std::string by_id = "/v1/projects/demo-project/locations/us-central1/customJobs";
  const Answer created = Ask("POST", by_number, Job("probe"));
  ASSERT_EQ(created.status, 200) << created.body;
  const std::string name = created.Text("name");
  EXPECT_THAT(name, StartsWith("projects/123456789012/"));
  AwaitEnd(name);
  EXPECT_EQ(Ask("GET", by_id + "/" + IdOf(name)).Text("state"), "JOB_STATE_SUCCEEDED");
  EXPECT_EQ(Ask("GET", by_id).body["customJobs"].size(), 1u);
  EXPECT_EQ(Ask("GET", std::string(kLocation) + "/customJobs").body, Json::object())
      << "it is a job of the emulator's own project only";
  for (const char* project : {"demo-project", "123456789012"}) {
    const Answer lines = Ask("POST", "/v2/entries:list",
                             {{"resourceNames", {std::string("projects/") + project}},
                              {"filter", "resource.labels.job_id=\"" + IdOf(name) + "\""}});
    EXPECT_GT(lines.body["entries"].size(), 5u) << project << lines.body;
  }
}

}  // namespace
}  // namespace caip::testing
