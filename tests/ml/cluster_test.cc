#include "ml/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace caip::ml {
namespace {

using ::testing::ElementsAre;

constexpr char kImage[] = "gcr.io/p/trainer:1";

TrainingInput Tier(std::string tier) {
  TrainingInput input;
  input.scale_tier = std::move(tier);
  input.runtime_version = "2.4";
  return input;
}

TrainingInput Custom(int64_t workers, int64_t parameter_servers, int64_t evaluators) {
  TrainingInput input = Tier("CUSTOM");
  input.master.machine_type = "n1-standard-8";
  input.worker = {"n1-highmem-8", std::nullopt, workers};
  input.parameter_server = {"n1-standard-4", std::nullopt, parameter_servers};
  input.evaluator = {"n1-highcpu-16", std::nullopt, evaluators};
  return input;
}

TrainingInput Container(TrainingInput input) {
  input.runtime_version.clear();
  input.master.config = ReplicaConfig{};
  input.master.config->image_uri = kImage;
  return input;
}

// "master-replica-0 n1-standard-8 NVIDIA_TESLA_K80x1", one line a replica.
std::vector<std::string> Listing(const ClusterPlan& plan) {
  std::vector<std::string> lines;
  for (const ReplicaPlan& replica : plan.replicas) {
    std::string line = TaskName(replica.id) + " " + replica.machine_type;
    if (replica.accelerator_count > 0) {
      line += " " + replica.accelerator_type + "x" + std::to_string(replica.accelerator_count);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(PlanCluster, GivesEachTierTheMachinesOfTheTable) {
  EXPECT_THAT(Listing(PlanCluster(Tier("BASIC"))), ElementsAre("master-replica-0 n1-standard-4"));
  EXPECT_THAT(Listing(PlanCluster(Tier("BASIC_GPU"))),
              ElementsAre("master-replica-0 n1-standard-8 NVIDIA_TESLA_K80x1"));
  EXPECT_THAT(Listing(PlanCluster(Tier("STANDARD_1"))),
              ElementsAre("master-replica-0 n1-highcpu-8",  //
                          "worker-replica-0 n1-highcpu-8", "worker-replica-1 n1-highcpu-8",
                          "worker-replica-2 n1-highcpu-8", "worker-replica-3 n1-highcpu-8",
                          "ps-replica-0 n1-standard-4", "ps-replica-1 n1-standard-4",
                          "ps-replica-2 n1-standard-4"));
}

TEST(PlanCluster, GivesPremium31Replicas) {
  const ClusterPlan plan = PlanCluster(Tier("PREMIUM_1"));
  EXPECT_EQ(plan.replicas.size(), 31u);
  EXPECT_EQ(plan.Of({Role::kWorker, 18}).machine_type, "n1-highcpu-16");
  EXPECT_EQ(plan.Of({Role::kParameterServer, 10}).machine_type, "n1-highmem-8");
}

TEST(PlanCluster, TakesAnAbsentTierForBasic) {
  EXPECT_EQ(Listing(PlanCluster(Tier(""))), Listing(PlanCluster(Tier("BASIC"))));
}

TEST(PlanCluster, TakesCustomMachinesFromTheJob) {
  EXPECT_THAT(Listing(PlanCluster(Custom(2, 1, 1))),
              ElementsAre("master-replica-0 n1-standard-8", "worker-replica-0 n1-highmem-8",
                          "worker-replica-1 n1-highmem-8", "ps-replica-0 n1-standard-4",
                          "evaluator-replica-0 n1-highcpu-16"));
}

TEST(PlanCluster, CountsTheGpusThatComeWithAMachineType) {
  TrainingInput input = Custom(1, 0, 0);
  input.master.machine_type = "complex_model_m_gpu";
  input.worker.machine_type = "large_model_v100";
  EXPECT_THAT(Listing(PlanCluster(input)),
              ElementsAre("master-replica-0 complex_model_m_gpu NVIDIA_TESLA_K80x4",
                          "worker-replica-0 large_model_v100 NVIDIA_TESLA_V100x1"));
}

TEST(PlanCluster, TakesAcceleratorsOfTheRoleThatAskedForThem) {
  TrainingInput input = Custom(1, 0, 0);
  input.worker.config = ReplicaConfig{};
  input.worker.config->accelerator_config = AcceleratorConfig{2, "NVIDIA_TESLA_T4"};
  EXPECT_THAT(Listing(PlanCluster(input)),
              ElementsAre("master-replica-0 n1-standard-8",
                          "worker-replica-0 n1-highmem-8 NVIDIA_TESLA_T4x2"));
}

TEST(PlanCluster, ReadsAnUnspecifiedAcceleratorAsNone) {
  TrainingInput input = Custom(0, 0, 0);
  input.master.config = ReplicaConfig{};
  input.master.config->accelerator_config = AcceleratorConfig{0, "ACCELERATOR_TYPE_UNSPECIFIED"};
  EXPECT_THAT(Listing(PlanCluster(input)), ElementsAre("master-replica-0 n1-standard-8"));
}

TEST(PlanCluster, KeepsATpuWorkerOutOfTheCluster) {
  const ClusterPlan basic = PlanCluster(Tier("BASIC_TPU"));
  EXPECT_THAT(Listing(basic), ElementsAre("master-replica-0 n1-standard-4"));
  EXPECT_EQ(basic.tpu_type, "TPU_V2");
  EXPECT_EQ(basic.tpu_count, 8);

  TrainingInput input = Custom(1, 0, 0);
  input.worker.machine_type = "cloud_tpu";
  const ClusterPlan unspecified = PlanCluster(input);
  EXPECT_THAT(Listing(unspecified), ElementsAre("master-replica-0 n1-standard-8"));
  EXPECT_EQ(unspecified.tpu_type, "TPU_V2");
  EXPECT_EQ(unspecified.tpu_count, 8);

  input.worker.config = ReplicaConfig{};
  input.worker.config->accelerator_config = AcceleratorConfig{32, "TPU_V3_POD"};
  EXPECT_EQ(PlanCluster(input).tpu_type, "TPU_V3_POD");
  EXPECT_EQ(PlanCluster(input).tpu_count, 32);
}

TEST(PlanCluster, HasNoTpuOtherwise) { EXPECT_EQ(PlanCluster(Custom(2, 1, 0)).tpu_type, ""); }

TEST(PlanCluster, LetsRolesRunTheMastersImageUnlessTheyNameTheirOwn) {
  TrainingInput input = Container(Custom(1, 1, 0));
  input.worker.config = ReplicaConfig{};
  input.worker.config->image_uri = "gcr.io/p/worker:2";
  const ClusterPlan plan = PlanCluster(input);
  EXPECT_TRUE(plan.is_container);
  EXPECT_EQ(plan.Of({Role::kMaster, 0}).image_uri, kImage);
  EXPECT_EQ(plan.Of({Role::kWorker, 0}).image_uri, "gcr.io/p/worker:2");
  EXPECT_EQ(plan.Of({Role::kParameterServer, 0}).image_uri, kImage);
}

TEST(PlanCluster, GivesPythonJobsNoImage) {
  const ClusterPlan plan = PlanCluster(Tier("BASIC"));
  EXPECT_FALSE(plan.is_container);
  EXPECT_EQ(plan.Of({}).image_uri, "");
}

struct ChiefCase {
  const char* what;
  const char* runtime;  // "" a container
  bool use_chief;
  int evaluators;
  bool chief;
};

TEST(PlanCluster, CallsTheMasterChiefByTheTable) {
  const ChiefCase cases[] = {
      {"runtime 1.13", "1.13", false, 0, false},
      {"runtime 1.15", "1.15", false, 0, false},
      {"runtime 1.15, useChief has no effect", "1.15", true, 0, false},
      {"runtime 1.15 with evaluators", "1.15", false, 1, true},
      {"runtime 2.1", "2.1", false, 0, true},
      {"runtime 2.11", "2.11", false, 0, true},
      {"runtime 2.4 with evaluators", "2.4", false, 2, true},
      {"container", "", false, 0, false},
      {"container, useChief", "", true, 0, true},
      {"container with evaluators", "", false, 1, true},
      {"container, useChief, with evaluators", "", true, 1, true},
  };
  for (const ChiefCase& c : cases) {
    TrainingInput input = Custom(1, 0, c.evaluators);
    input.runtime_version = c.runtime;
    if (input.runtime_version.empty()) input = Container(input);
    input.use_chief_in_tf_config = c.use_chief;
    EXPECT_EQ(PlanCluster(input).uses_chief, c.chief) << c.what;
  }
}

TEST(ReplicaNames, AreThoseOfThePage) {
  EXPECT_EQ(TaskName({Role::kMaster, 0}), "master-replica-0");
  EXPECT_EQ(TaskName({Role::kParameterServer, 2}), "ps-replica-2");
  EXPECT_EQ(TaskName({Role::kEvaluator, 0}), "evaluator-replica-0");
  EXPECT_EQ(ProseName({Role::kMaster, 0}), "master 0");
  EXPECT_EQ(ProseName({Role::kWorker, 11}), "worker 11");
  EXPECT_EQ(HostName({Role::kMaster, 0}, "e118e0f997"), "cmle-training-master-e118e0f997-0");
  EXPECT_EQ(HostName({Role::kParameterServer, 1}, "e118e0f997"), "cmle-training-ps-e118e0f997-1");
}

}  // namespace
}  // namespace caip::ml
