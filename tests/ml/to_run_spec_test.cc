#include "ml/to_run_spec.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/ml/a_job.h"

namespace caip::ml {
namespace {

TrainingInput APrebuiltJob() {
  TrainingInput input = *AContainerJob().training_input;
  input.master.config.emplace().image_uri = "gcr.io/cloud-ml-public/training/pytorch-gpu.1-7:v2";
  input.package_uris = {"gs://bkt/trainer.tar.gz"};
  input.python_module = "trainer.task";
  return input;
}

// docs/service/tables.md, section 5
TEST(ToRunSpec, APrebuiltContainerInstallsThePackagesAndRunsTheModule) {
  const run::RunSpec spec = ToRunSpec(APrebuiltJob(), {});
  EXPECT_TRUE(spec.NeedsPackages());
  for (const run::ReplicaGroup& group : spec.groups) {
    const auto* module = std::get_if<run::PythonModule>(&group.program);
    ASSERT_NE(module, nullptr) << group.role;
    EXPECT_EQ(module->module, "trainer.task");
    EXPECT_EQ(module->package_uris, std::vector<std::string>{"gs://bkt/trainer.tar.gz"});
    EXPECT_EQ(module->software_version, "pytorch-gpu.1-7");
    EXPECT_EQ(module->python_version, "3.7");
  }
}

TEST(ToRunSpec, APrebuiltContainerWithoutAModuleRunsAsAnyImage) {
  TrainingInput input = APrebuiltJob();
  input.package_uris.clear();
  input.python_module.clear();
  const run::RunSpec spec = ToRunSpec(input, {});
  EXPECT_FALSE(spec.NeedsPackages());
  EXPECT_TRUE(std::holds_alternative<run::ContainerImage>(spec.groups.front().program));
}

// docs/service/tables.md, sections 2 and 3
TEST(ToRunSpec, MachinesHaveTheCpusAndTheMemoryOfTheirType) {
  const std::tuple<const char*, int, double> rows[] = {
      {"complex_model_s", 8, 7.2}, {"n1-standard-4", 4, 15}, {"n1-highmem-96", 96, 624}};
  for (const auto& [type, vcpus, gb] : rows) {
    TrainingInput input = *AContainerJob().training_input;
    input.scale_tier = "CUSTOM";
    input.master.machine_type = type;
    const run::ReplicaGroup group = ToRunSpec(input, {}).groups.front();
    EXPECT_EQ(group.vcpus, vcpus) << type;
    EXPECT_EQ(group.memory_bytes, static_cast<int64_t>(gb * (1ll << 30))) << type;
  }
}

TEST(ToRunSpec, AnImageOfTheJobsOwnRunsItself) {
  TrainingInput input = APrebuiltJob();
  input.master.config->image_uri = "gcr.io/p/own:v1";
  EXPECT_FALSE(ToRunSpec(input, {}).NeedsPackages());
}

}  // namespace
}  // namespace caip::ml
