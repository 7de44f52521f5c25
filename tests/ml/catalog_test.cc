#include "ml/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace caip::ml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct TierRow {
  const char* tier;
  const char* master;
  const char* worker;
  int64_t workers;
  const char* parameter_server;
  int64_t parameter_servers;
};

// https://cloud.google.com/ai-platform/training/docs/machine-types#scale_tiers
TEST(Catalog, ScaleTiersGiveTheMachinesOfTheDocumentation) {
  const TierRow rows[] = {
      {"BASIC", "n1-standard-4", "", 0, "", 0},
      {"STANDARD_1", "n1-highcpu-8", "n1-highcpu-8", 4, "n1-standard-4", 3},
      {"PREMIUM_1", "n1-highcpu-16", "n1-highcpu-16", 19, "n1-highmem-8", 11},
      {"BASIC_GPU", "n1-standard-8", "", 0, "", 0},
      {"BASIC_TPU", "n1-standard-4", "cloud_tpu", 1, "", 0},
  };
  for (const TierRow& row : rows) {
    SCOPED_TRACE(row.tier);
    const ScaleTier* tier = DefaultCatalog().FindTier(row.tier);
    ASSERT_NE(tier, nullptr);
    EXPECT_FALSE(tier->IsCustom());
    ASSERT_NE(tier->Of(Role::kMaster), nullptr);
    EXPECT_EQ(tier->Of(Role::kMaster)->machine_type, row.master);
    EXPECT_EQ(tier->Of(Role::kMaster)->count, 1);
    const TierRole* worker = tier->Of(Role::kWorker);
    EXPECT_EQ(worker ? worker->machine_type : "", row.worker);
    EXPECT_EQ(worker ? worker->count : 0, row.workers);
    const TierRole* ps = tier->Of(Role::kParameterServer);
    EXPECT_EQ(ps ? ps->machine_type : "", row.parameter_server);
    EXPECT_EQ(ps ? ps->count : 0, row.parameter_servers);
    EXPECT_EQ(tier->Of(Role::kEvaluator), nullptr);
  }
}

TEST(Catalog, TheGpuTierHasOneK80AndTheTpuTierOneDeviceOfEightCores) {
  const TierRole* gpu = DefaultCatalog().FindTier("BASIC_GPU")->Of(Role::kMaster);
  EXPECT_EQ(gpu->accelerator_type, "NVIDIA_TESLA_K80");
  EXPECT_EQ(gpu->accelerator_count, 1);
  const TierRole* tpu = DefaultCatalog().FindTier("BASIC_TPU")->Of(Role::kWorker);
  EXPECT_EQ(tpu->accelerator_type, "TPU_V2");
  EXPECT_EQ(tpu->accelerator_count, 8);
}

TEST(Catalog, TheCustomTierNamesNoMachines) {
  const ScaleTier* custom = DefaultCatalog().FindTier("CUSTOM");
  ASSERT_NE(custom, nullptr);
  EXPECT_TRUE(custom->IsCustom());
  EXPECT_THAT(custom->roles, IsEmpty());
  EXPECT_EQ(DefaultCatalog().FindTier("basic"), nullptr);
}

struct LegacyRow {
  const char* name;
  const char* equivalent;
  int vcpus;
  double gb;
  const char* gpu;
  int64_t gpus;
};

// https://cloud.google.com/ai-platform/training/docs/machine-types#legacy-machine-types
TEST(Catalog, LegacyMachinesAreMadeAsDocumented) {
  const LegacyRow rows[] = {
      {"standard", "n1-standard-4", 4, 15, "", 0},
      {"large_model", "n1-highmem-8", 8, 52, "", 0},
      {"complex_model_s", "n1-highcpu-8", 8, 7.2, "", 0},
      {"complex_model_m", "n1-highcpu-16", 16, 14.4, "", 0},
      {"complex_model_l", "n1-highcpu-32", 32, 28.8, "", 0},
      {"standard_gpu", "n1-standard-8", 8, 30, "NVIDIA_TESLA_K80", 1},
      {"complex_model_m_gpu", "n1-standard-16", 16, 60, "NVIDIA_TESLA_K80", 4},
      {"complex_model_l_gpu", "n1-standard-32", 32, 120, "NVIDIA_TESLA_K80", 8},
      {"standard_p100", "n1-standard-8", 8, 30, "NVIDIA_TESLA_P100", 1},
      {"complex_model_m_p100", "n1-standard-16", 16, 60, "NVIDIA_TESLA_P100", 4},
      {"standard_v100", "n1-standard-8", 8, 30, "NVIDIA_TESLA_V100", 1},
      {"large_model_v100", "n1-highmem-8", 8, 52, "NVIDIA_TESLA_V100", 1},
      {"complex_model_m_v100", "n1-standard-16", 16, 60, "NVIDIA_TESLA_V100", 4},
      {"complex_model_l_v100", "n1-standard-32", 32, 120, "NVIDIA_TESLA_V100", 8},
  };
  for (const LegacyRow& row : rows) {
    SCOPED_TRACE(row.name);
    const MachineType* machine = DefaultCatalog().FindMachine(row.name);
    ASSERT_NE(machine, nullptr);
    EXPECT_EQ(machine->category, MachineCategory::kLegacy);
    EXPECT_EQ(machine->equivalent, row.equivalent);
    EXPECT_EQ(machine->vcpus, row.vcpus);
    EXPECT_DOUBLE_EQ(machine->memory_gb, row.gb);
    EXPECT_EQ(machine->gpu_type, row.gpu);
    EXPECT_EQ(machine->gpu_count, row.gpus);
    EXPECT_THAT(machine->accelerator_counts, IsEmpty());
    const MachineType* equivalent = DefaultCatalog().FindMachine(row.equivalent);
    ASSERT_NE(equivalent, nullptr) << "the equivalent is a machine of the catalog, too";
    EXPECT_EQ(equivalent->vcpus, row.vcpus);
    EXPECT_DOUBLE_EQ(equivalent->memory_gb, row.gb);
  }
}

TEST(Catalog, ComputeEngineMachinesAreThoseOfTheDocumentation) {
  struct Row {
    const char* series;
    double gb_per_vcpu;
    std::vector<int> vcpus;
  };
  const Row rows[] = {
      {"n1-standard-", 3.75, {4, 8, 16, 32, 64, 96}},
      {"n1-highmem-", 6.5, {2, 4, 8, 16, 32, 64, 96}},
      {"n1-highcpu-", 0.9, {16, 32, 64, 96}},
      {"e2-standard-", 4, {4, 8, 16, 32}},
      {"e2-highmem-", 8, {2, 4, 8, 16}},
      {"e2-highcpu-", 1, {16, 32}},
      {"n2-standard-", 4, {4, 8, 16, 32, 48, 64, 80}},
      {"n2-highmem-", 8, {2, 4, 8, 16, 32, 48, 64, 80}},
      {"n2-highcpu-", 1, {16, 32, 48, 64, 80}},
      {"c2-standard-", 4, {4, 8, 16, 30, 60}},
  };
  std::set<std::string> expected = {"m1-ultramem-40", "m1-ultramem-80", "m1-ultramem-160",
                                    "m1-megamem-96",  "a2-highgpu-1g",  "a2-highgpu-2g",
                                    "a2-highgpu-4g",  "a2-highgpu-8g",  "a2-megagpu-16g"};
  for (const Row& row : rows) {
    for (const int vcpus : row.vcpus) {
      const std::string name = row.series + std::to_string(vcpus);
      SCOPED_TRACE(name);
      expected.insert(name);
      const MachineType* machine = DefaultCatalog().FindMachine(name);
      ASSERT_NE(machine, nullptr);
      EXPECT_EQ(machine->category, MachineCategory::kComputeEngine);
      EXPECT_EQ(machine->vcpus, vcpus);
      EXPECT_DOUBLE_EQ(machine->memory_gb, row.gb_per_vcpu * vcpus);
    }
  }
  for (const MachineType& machine : DefaultCatalog().machines()) {
    if (machine.category != MachineCategory::kComputeEngine || machine.tier_only) continue;
    EXPECT_EQ(expected.count(machine.name), 1u) << machine.name << " is not documented";
  }
}

TEST(Catalog, SmallMachinesAreNotOfferedAndTheOneOfTheTiersIsMarked) {
  for (const char* name : {"n1-standard-1", "n1-standard-2", "n1-highcpu-2", "n1-highcpu-4"}) {
    EXPECT_EQ(DefaultCatalog().FindMachine(name), nullptr) << name;
  }
  ASSERT_NE(DefaultCatalog().FindMachine("n1-highcpu-8"), nullptr);
  EXPECT_TRUE(DefaultCatalog().FindMachine("n1-highcpu-8")->tier_only);
  EXPECT_FALSE(DefaultCatalog().FindMachine("n1-highcpu-16")->tier_only);
}

struct AcceleratorRow {
  const char* machines;
  const char* k80;
  const char* p4;
  const char* p100;
  const char* t4;
  const char* v100;
};

// docs/service/tables.md, section 3.
const AcceleratorRow kAccelerators[] = {
    {"n1-standard-4 n1-standard-8", "1,2,4,8", "1,2,4", "1,2,4", "1,2,4", "1,2,4,8"},
    {"n1-standard-16", "2,4,8", "1,2,4", "1,2,4", "1,2,4", "2,4,8"},
    {"n1-standard-32", "4,8", "2,4", "2,4", "2,4", "4,8"},
    {"n1-standard-64 n1-standard-96", "", "4", "", "4", "8"},
    {"n1-highmem-2 n1-highmem-4 n1-highmem-8", "1,2,4,8", "1,2,4", "1,2,4", "1,2,4", "1,2,4,8"},
    {"n1-highmem-16", "2,4,8", "1,2,4", "1,2,4", "1,2,4", "2,4,8"},
    {"n1-highmem-32", "4,8", "2,4", "2,4", "2,4", "4,8"},
    {"n1-highmem-64 n1-highmem-96", "", "4", "", "4", "8"},
    {"n1-highcpu-16", "2,4,8", "1,2,4", "1,2,4", "1,2,4", "2,4,8"},
    {"n1-highcpu-32", "4,8", "2,4", "2,4", "2,4", "4,8"},
    {"n1-highcpu-64", "8", "4", "4", "4", "8"},
    {"n1-highcpu-96", "", "4", "", "4", "8"},
    {"n1-highcpu-8", "", "", "", "", ""},
    {"e2-standard-4 n2-standard-8 c2-standard-60 m1-megamem-96", "", "", "", "", ""},
    {"standard standard_gpu complex_model_l_v100 cloud_tpu", "", "", "", "", ""},
};

std::string Counts(const std::string& machine, const char* type) {
  std::vector<std::string> words;
  const auto& counts = DefaultCatalog().FindMachine(machine)->accelerator_counts;
  const auto row = counts.find(type);
  if (row == counts.end()) return "";
  for (const int64_t count : row->second) words.push_back(std::to_string(count));
  return Join(words, ",");
}

TEST(Catalog, AcceleratorCountsAreThoseOfTheTable) {
  for (const AcceleratorRow& row : kAccelerators) {
    for (const std::string& machine : Split(row.machines, ' ')) {
      SCOPED_TRACE(machine);
      ASSERT_NE(DefaultCatalog().FindMachine(machine), nullptr);
      EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_K80"), row.k80);
      EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_P4"), row.p4);
      EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_P100"), row.p100);
      EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_T4"), row.t4);
      EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_V100"), row.v100);
      EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_A100"), "");
      EXPECT_EQ(Counts(machine, "TPU_V2"), "");
    }
  }
}

TEST(Catalog, A2MachinesComeWithTheirA100s) {
  const std::pair<const char*, const char*> rows[] = {{"a2-highgpu-1g", "1"},
                                                      {"a2-highgpu-2g", "2"},
                                                      {"a2-highgpu-4g", "4"},
                                                      {"a2-highgpu-8g", "8"},
                                                      {"a2-megagpu-16g", "16"}};
  for (const auto& [machine, count] : rows) {
    SCOPED_TRACE(machine);
    EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_A100"), count);
    EXPECT_EQ(Counts(machine, "NVIDIA_TESLA_T4"), "");
    EXPECT_EQ(DefaultCatalog().FindMachine(machine)->gpu_type, "NVIDIA_TESLA_A100");
    EXPECT_EQ(std::to_string(DefaultCatalog().FindMachine(machine)->gpu_count), count);
  }
}

TEST(Catalog, TpusAreSingleDevicesOfEightCoresOrPodsOf32) {
  const TpuRules& tpu = DefaultCatalog().tpu();
  EXPECT_EQ(DefaultCatalog().FindMachine("cloud_tpu")->category, MachineCategory::kTpu);
  EXPECT_TRUE(tpu.Allows("TPU_V2", 8));
  EXPECT_TRUE(tpu.Allows("TPU_V3", 8));
  EXPECT_FALSE(tpu.Allows("TPU_V2", 16));
  for (const char* pod : {"TPU_V2_POD", "TPU_V3_POD", "TPU_V4_POD"}) {
    EXPECT_TRUE(tpu.Allows(pod, 32)) << pod;
    EXPECT_TRUE(tpu.Allows(pod, 128)) << pod;
    EXPECT_FALSE(tpu.Allows(pod, 8)) << pod;
    EXPECT_FALSE(tpu.Allows(pod, 33)) << pod;
    EXPECT_FALSE(tpu.Allows(pod, 0)) << pod;
    EXPECT_FALSE(tpu.Allows(pod, -32)) << pod;
  }
  EXPECT_FALSE(tpu.Allows("NVIDIA_TESLA_T4", 8));
  EXPECT_EQ(tpu.default_type, "TPU_V2");
  EXPECT_EQ(tpu.default_count, 8);
  EXPECT_EQ(tpu.CountsInWords("TPU_V3"), "8");
  EXPECT_EQ(tpu.CountsInWords("TPU_V3_POD"), "32 or a multiple of it");
}

TEST(Catalog, RuntimeVersionsHaveThePythonsOfTheDocumentation) {
  const std::pair<const char*, std::vector<std::string>> rows[] = {
      {"2.11", {"3.7"}},        {"2.10", {"3.7"}},        {"2.9", {"3.7"}},
      {"2.8", {"3.7"}},         {"2.7", {"3.7"}},         {"2.6", {"3.7"}},
      {"2.5", {"3.7"}},         {"2.4", {"3.7"}},         {"2.3", {"3.7"}},
      {"2.2", {"3.7"}},         {"2.1", {"3.7"}},         {"1.15", {"3.7", "2.7"}},
      {"1.14", {"3.5", "2.7"}}, {"1.13", {"3.5", "2.7"}}, {"1.12", {"3.5", "2.7"}},
      {"1.11", {"3.5", "2.7"}}, {"1.10", {"3.5", "2.7"}}, {"1.9", {"3.5", "2.7"}},
      {"1.8", {"3.5", "2.7"}},  {"1.7", {"3.5", "2.7"}},  {"1.6", {"3.5", "2.7"}},
      {"1.5", {"3.5", "2.7"}},  {"1.4", {"3.5", "2.7"}},  {"1.3", {"2.7"}},
      {"1.2", {"2.7"}},         {"1.1", {"2.7"}},         {"1.0", {"2.7"}},
  };
  EXPECT_EQ(DefaultCatalog().runtimes().size(), std::size(rows));
  for (const auto& [version, pythons] : rows) {
    SCOPED_TRACE(version);
    ASSERT_NE(DefaultCatalog().FindRuntime(version), nullptr);
    EXPECT_EQ(DefaultCatalog().FindRuntime(version)->pythons, pythons);
  }
  EXPECT_EQ(DefaultCatalog().FindRuntime("2.0"), nullptr) << "2.1 followed 1.15";
  EXPECT_EQ(DefaultCatalog().FindRuntime("2.4")->frameworks.at("tensorflow"), "2.4.1");
}

TEST(Catalog, RegionsAreSortedAndGlobalIsNone) {
  std::vector<std::string> names;
  for (const Region& region : DefaultCatalog().regions()) names.push_back(region.name);
  EXPECT_THAT(names, ElementsAre("asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2",
                                 "asia-northeast3", "asia-south1", "asia-southeast1",
                                 "europe-north1", "europe-west1", "europe-west2", "europe-west3",
                                 "europe-west4", "europe-west6", "us-central1", "us-east1",
                                 "us-east4", "us-west1", "us-west2", "us-west3"));
  EXPECT_EQ(DefaultCatalog().FindRegion("global"), nullptr);
}

TEST(Catalog, BuiltInAlgorithmsAreToldByTheirImage) {
  EXPECT_TRUE(DefaultCatalog().IsBuiltInAlgorithm("gcr.io/cloud-ml-algos/boosted_trees:latest"));
  EXPECT_FALSE(DefaultCatalog().IsBuiltInAlgorithm("gcr.io/my-project/cloud-ml-algos/x"));
}

TEST(Catalog, FindsTheBuiltInAlgorithmOfAnImageWithAnyTag) {
  const std::string prefix = "gcr.io/cloud-ml-algos/";
  for (const std::string tag : {"", ":latest", ":v2", "@sha256:00"}) {
    const BuiltInAlgorithm* found =
        DefaultCatalog().FindBuiltInAlgorithm(prefix + "boosted_trees" + tag);
    ASSERT_NE(found, nullptr) << tag;
    EXPECT_EQ(found->framework, "XGBOOST");
    EXPECT_EQ(found->runtime_version, "1.15");
    EXPECT_EQ(found->python_version, "3.7");
  }
  EXPECT_EQ(DefaultCatalog().FindBuiltInAlgorithm(prefix + "wide_deep_learner_gpu")->framework,
            "TENSORFLOW");
  EXPECT_EQ(DefaultCatalog().FindBuiltInAlgorithm(prefix + "boosted"), nullptr);
  EXPECT_EQ(DefaultCatalog().FindBuiltInAlgorithm("gcr.io/p/boosted_trees"), nullptr);
}

TEST(RuntimeVersion, IsMajorDotMinor) {
  EXPECT_EQ(ParseRuntimeVersion("2.11"), std::pair(2, 11));
  EXPECT_EQ(ParseRuntimeVersion("1.0"), std::pair(1, 0));
  for (const char* text : {"", "2", "2.", ".4", "2.4.1", "2.x", "v2.4", " 2.4", "2.-4", "02.4"}) {
    EXPECT_EQ(ParseRuntimeVersion(text), std::nullopt) << text;
  }
}

TEST(Catalog, ABrokenListNamesTheWrongEntry) {
  const auto parsed = Catalog::Parse(R"({"compute_engine_machines": {"series": [
      {"series": "n1-standard", "gb_per_vcpu": 3.75, "vcpus": [4, 4]}]}})");
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().message, HasSubstr("'n1-standard-4': it is listed twice"));
  EXPECT_FALSE(Catalog::Parse("{").ok());
  EXPECT_FALSE(Catalog::Parse("[]").ok());
}

}  // namespace
}  // namespace caip::ml
