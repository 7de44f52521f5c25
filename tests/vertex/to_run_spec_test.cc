// docs/service/vertex.md, sections 3 to 5: what a custom job asks the engine to run.

#include "vertex/to_run_spec.h"

#include "tests/vertex/a_custom_job.h"
#include "vertex/catalog/catalog.h"
#include "vertex/limits.h"

namespace caip::vertex {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

run::RunSpec SpecOf(const Json& body) {
  return ToRunSpec(*Parsed(body).spec, "us-central1", DefaultCatalog());
}

Json WithScheduling(const char* scheduling) {
  Json job = AContainerJob();
  job["jobSpec"]["scheduling"] = FromText(scheduling);
  return job;
}

TEST(ToRunSpec, MakesAGroupOfEachPoolAndKeepsPositions) {
  const run::RunSpec spec = SpecOf(WithPools(AContainerJob(), {0, 2, 3}));
  ASSERT_THAT(spec.groups, SizeIs(3));
  EXPECT_EQ(spec.groups[0].role, "workerpool0");
  EXPECT_EQ(spec.groups[0].count, 1);
  EXPECT_EQ(spec.groups[1].role, "workerpool2");
  EXPECT_EQ(spec.groups[1].count, 2);
  EXPECT_EQ(spec.groups[2].role, "workerpool3");
  EXPECT_EQ(spec.groups[2].count, 3);
  EXPECT_EQ(spec.lead(), (run::ReplicaId{"workerpool0", 0}));
  EXPECT_EQ(spec.region, "us-central1");
}

TEST(ToRunSpec, DescribesMachinesWithTheirAcceleratorsAndDisks) {
  Json job = AContainerJob();
  Json& pool = job["jobSpec"]["workerPoolSpecs"][0];
  pool["machineSpec"] = {
      {"machineType", "g2-standard-24"}, {"acceleratorType", "NVIDIA_L4"}, {"acceleratorCount", 2}};
  pool["diskSpec"] = {{"bootDiskType", "pd-standard"}, {"bootDiskSizeGb", 250}};
  const run::ReplicaGroup group = SpecOf(job).groups.at(0);
  EXPECT_EQ(group.machine_type, "g2-standard-24");
  EXPECT_EQ(group.vcpus, 24);
  EXPECT_EQ(group.memory_bytes, 96ll << 30);
  EXPECT_THAT(group.accelerators, ElementsAre(run::Accelerator{"NVIDIA_L4", 2}));
  EXPECT_EQ(group.disk, (run::BootDisk{"pd-standard", 250}));
  EXPECT_THAT(SpecOf(AContainerJob()).groups.at(0).accelerators, IsEmpty());
}

TEST(ToRunSpec, GivesEachPoolItsOwnProgram) {
  Json job = WithPools(AContainerJob(), {1});
  job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"] = {"python3", "x.py"};
  job["jobSpec"]["workerPoolSpecs"][1] = APackageJob()["jobSpec"]["workerPoolSpecs"][0];
  const run::RunSpec spec = SpecOf(job);
  const auto& image = std::get<run::ContainerImage>(spec.groups[0].program);
  EXPECT_EQ(image.uri, "us-docker.pkg.dev/p/images/train:v1");
  EXPECT_THAT(image.command, ElementsAre("python3", "x.py"));
  EXPECT_THAT(image.args, ElementsAre("--epochs=2"));
  EXPECT_EQ(spec.groups[0].program_field, "job_spec.worker_pool_specs[0].container_spec.image_uri");
  const auto& module = std::get<run::PythonModule>(spec.groups[1].program);
  EXPECT_EQ(module.module, "trainer.task");
  EXPECT_THAT(module.package_uris, ElementsAre("gs://bkt/trainer-0.1.tar.gz"));
  EXPECT_EQ(module.software_version, "tf-cpu.2-11.py310");
  EXPECT_EQ(module.python_version, "3.10");
  EXPECT_FALSE(module.is_python_default);
}

TEST(ToRunSpec, ReadsThePythonVersionFromTheImagesName) {
  struct Row {
    const char* image;
    const char* name;
    const char* python;
    bool names_python;
  };
  const Row rows[] = {
      {"us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest", "tf-cpu.2-11.py310", "3.10",
       true},
      {"europe-docker.pkg.dev/vertex-ai/training/tf-gpu.2-8:latest", "tf-gpu.2-8", "3.7", false},
      {"asia-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310@sha256:0",
       "pytorch-gpu.2-4.py310", "3.10", true},
      {"us-docker.pkg.dev/vertex-ai/training/tf-tpu.2-15.cp310:latest", "tf-tpu.2-15.cp310", "3.10",
       true},
      {"gcr.io/cloud-aiplatform/training/scikit-learn-cpu.0-23:latest", "scikit-learn-cpu.0-23",
       "3.7", false},
      {"gcr.io/my/own.py311:latest", "own.py311", "3.7", false},
      {"us-docker.pkg.dev/vertex-ai/training/xgboost-cpu.1-7.pyx:latest", "xgboost-cpu.1-7.pyx",
       "3.7", false},
  };
  for (const Row& row : rows) {
    const PrebuiltImage image = DescribePrebuiltImage(row.image);
    EXPECT_EQ(image.name, row.name);
    EXPECT_EQ(image.python, row.python) << row.image;
    EXPECT_EQ(image.names_python, row.names_python) << row.image;
  }
}

TEST(ToRunSpec, FollowsTheRestartRulesOfScheduling) {
  struct Row {
    const char* scheduling;
    bool whole_job;
    int job_retries;
    int service_retries;
    std::optional<int> loss_restarts;
  };
  const Row rows[] = {
      {"{}", false, 3, 2, std::nullopt},
      {R"({"strategy": "STANDARD"})", false, 3, 2, std::nullopt},
      {R"({"strategy": "ON_DEMAND"})", false, 3, 2, std::nullopt},
      {R"({"restartJobOnWorkerRestart": true})", true, 3, 2, std::nullopt},
      {R"({"disableRetries": true})", false, 0, 0, std::nullopt},
      {R"({"restartJobOnWorkerRestart": true, "disableRetries": true})", false, 0, 0, std::nullopt},
      {R"({"strategy": "SPOT"})", false, 3, 2, 6},
      {R"({"strategy": "LOW_COST"})", false, 3, 2, 6},
      {R"({"strategy": "SPOT", "disableRetries": true})", false, 0, 0, 0},
  };
  for (const Row& row : rows) {
    const run::RestartPolicy policy = SpecOf(WithScheduling(row.scheduling)).policy;
    SCOPED_TRACE(row.scheduling);
    EXPECT_EQ(policy.restarts_whole_job, row.whole_job);
    EXPECT_EQ(policy.replica_restarts_max, 5);
    EXPECT_TRUE(policy.restarts_failing_replica);
    EXPECT_EQ(policy.job_retries_max, row.job_retries);
    EXPECT_EQ(policy.service_error_retries_max, row.service_retries);
    EXPECT_EQ(policy.job_restarts_after_loss_max, row.loss_restarts);
  }
}

TEST(ToRunSpec, FollowsTheLimitsOfScheduling) {
  struct Row {
    const char* scheduling;
    Duration running;
    std::optional<Duration> wait;
  };
  const Row rows[] = {
      {"{}", hours(168), std::nullopt},
      {R"({"timeout": "3600s"})", hours(1), std::nullopt},
      {R"({"maxWaitDuration": "60s"})", hours(168), std::nullopt},
      {R"({"strategy": "FLEX_START"})", hours(168), hours(24)},
      {R"({"strategy": "FLEX_START", "maxWaitDuration": "60s"})", hours(168), seconds(60)},
      {R"({"strategy": "FLEX_START", "maxWaitDuration": "0s"})", hours(168), std::nullopt},
  };
  for (const Row& row : rows) {
    const run::Limits limits = SpecOf(WithScheduling(row.scheduling)).limits;
    SCOPED_TRACE(row.scheduling);
    EXPECT_EQ(limits.max_running, row.running);
    EXPECT_EQ(limits.max_wait, row.wait);
    EXPECT_EQ(limits.fails_after_max_wait,
              std::string(row.scheduling).find("FLEX") != std::string::npos);
  }
}

TEST(ToRunSpec, NamesTheIdentityAndTheOutput) {
  Json job = AContainerJob();
  job["jobSpec"]["serviceAccount"] = "a@b.c";
  job["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"] = "gs://bkt/out/";
  EXPECT_EQ(SpecOf(job).service_account, "a@b.c");
  EXPECT_EQ(SpecOf(job).output_directory, "gs://bkt/out/");
}

}  // namespace
}  // namespace caip::vertex
