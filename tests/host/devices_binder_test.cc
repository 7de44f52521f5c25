#include "host/devices/devices_binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "host/devices/fake_devices.h"

namespace caip::host {
namespace {

using engine::DeviceAnswer;
using engine::DeviceRequest;
using engine::RunKey;
using run::ReplicaId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const RunKey kBoundRun{"p", "job", ""};
const RunKey kOtherBoundRun{"p", "other", ""};
const ReplicaId kMaster{"master", 0};
const ReplicaId kWorker0{"worker", 0};
const ReplicaId kWorker1{"worker", 1};
const std::vector<ReplicaId> kCluster = {kMaster, kWorker0, kWorker1};
constexpr const char* kT4 = "NVIDIA_TESLA_T4";
constexpr const char* kV100 = "NVIDIA_TESLA_V100";

DeviceInventory Fakes(const std::string& text) {
  DeviceInventory inventory;
  inventory.gpus = *FakeGpus(text);
  inventory.gpu_source = "fake";
  inventory.gpus_are_fake = true;
  return inventory;
}

DeviceBinderOnHost::ReadDevices Read(DeviceInventory inventory) {
  return [inventory] { return inventory; };
}

std::string Variable(const DeviceAnswer& answer, ReplicaId replica, const std::string& name) {
  for (const auto& [id, lent] : answer.replicas) {
    if (id != replica) continue;
    for (const auto& [key, value] : lent.environment) {
      if (key == name) return value;
    }
  }
  return "(unset)";
}

std::vector<std::string> Gpus(const DeviceAnswer& answer, ReplicaId replica) {
  const std::string text = Variable(answer, replica, "CUDA_VISIBLE_DEVICES");
  return text.empty() ? std::vector<std::string>() : Split(text, ',');
}

std::vector<std::string> Nodes(const DeviceAnswer& answer, ReplicaId replica) {
  std::vector<std::string> shown;
  for (const auto& [id, lent] : answer.replicas) {
    if (id != replica) continue;
    for (const engine::DeviceNode& node : lent.nodes) shown.push_back(node.shown);
  }
  return shown;
}

TEST(Devices, HaveFilesOnTheMachinesThatTheyAreLentToOnly) {
  DeviceInventory inventory = Fakes("3xNVIDIA_TESLA_T4");
  inventory.gpu_control_nodes = {{"/dev/null", "/dev/nvidiactl"}};
  DeviceBinderOnHost binder(DeviceMode::kQueue, Read(inventory));
  const DeviceAnswer answer =
      binder.Bind(kBoundRun, kCluster, {{kWorker0, kT4, 2}, {kWorker1, kT4, 1}});
  EXPECT_THAT(Nodes(answer, kMaster), IsEmpty());
  EXPECT_THAT(Nodes(answer, kWorker0),
              ElementsAre("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1"));
  EXPECT_THAT(Nodes(answer, kWorker1), ElementsAre("/dev/nvidiactl", "/dev/nvidia2"));
}

TEST(Devices, ThatAreInstancesOfOneGpuShareItsFileOnly) {
  DeviceBinderOnHost binder(DeviceMode::kQueue, Read(Fakes("1xNVIDIA_TESLA_A100:3x2g.10gb")));
  const DeviceAnswer answer =
      binder.Bind(kBoundRun, kCluster,
                  {{kWorker0, "NVIDIA_TESLA_A100", 2}, {kWorker1, "NVIDIA_TESLA_A100", 1}});
  EXPECT_THAT(
      Nodes(answer, kWorker0),
      ElementsAre("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap30", "/dev/nvidia-caps/nvidia-cap31",
                  "/dev/nvidia-caps/nvidia-cap39", "/dev/nvidia-caps/nvidia-cap40"));
  EXPECT_THAT(Nodes(answer, kWorker1), ElementsAre("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap48",
                                                   "/dev/nvidia-caps/nvidia-cap49"));
  EXPECT_THAT(Gpus(answer, kWorker1), ElementsAre(testing::StartsWith("MIG-")));
  EXPECT_THAT(answer.warnings, IsEmpty());
}

TEST(Devices, OfATpuHaveTheirFilesOnTheMachineThatDrivesIt) {
  DeviceInventory inventory;
  inventory.tpu_chips = {{0, "/dev/vfio/0"}};
  inventory.tpu_nodes = {{"/dev/vfio/0", "/dev/vfio/0"}, {"/dev/vfio/vfio", "/dev/vfio/vfio"}};
  DeviceBinderOnHost binder(DeviceMode::kShare, Read(inventory));
  const DeviceAnswer answer = binder.Bind(kBoundRun, kCluster, {{kMaster, "TPU_V2", 1}});
  EXPECT_THAT(Nodes(answer, kMaster), ElementsAre("/dev/vfio/0", "/dev/vfio/vfio"));
  EXPECT_THAT(Nodes(answer, kWorker0), IsEmpty());
}

TEST(Devices, OfAJobThatAsksForNoneAreHiddenAndNotLookedFor) {
  DeviceBinderOnHost binder(DeviceMode::kByHost, []() -> DeviceInventory {
    ADD_FAILURE() << "the inventory was read";
    return {};
  });
  const DeviceAnswer answer = binder.Bind(kBoundRun, kCluster, {});
  EXPECT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
  ASSERT_EQ(answer.replicas.size(), 3u);
  EXPECT_EQ(Variable(answer, kMaster, "CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(Variable(answer, kWorker1, "NVIDIA_VISIBLE_DEVICES"), "");
  EXPECT_THAT(answer.warnings, IsEmpty());
}

TEST(Devices, AreDisjointSetsByUuidAndNoneForWhoAskedForNone) {
  DeviceBinderOnHost binder(DeviceMode::kByHost, Read(Fakes("4xNVIDIA_TESLA_T4")));
  const DeviceAnswer answer =
      binder.Bind(kBoundRun, kCluster, {{kWorker0, kT4, 2}, {kWorker1, kT4, 2}});
  ASSERT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
  std::set<std::string> all;
  for (const ReplicaId& worker : {kWorker0, kWorker1}) {
    for (const std::string& uuid : Gpus(answer, worker)) {
      EXPECT_THAT(uuid, testing::StartsWith("GPU-"));
      all.insert(uuid);
    }
    EXPECT_EQ(Variable(answer, worker, "CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
    EXPECT_EQ(Variable(answer, worker, "NVIDIA_VISIBLE_DEVICES"),
              Variable(answer, worker, "CUDA_VISIBLE_DEVICES"));
  }
  EXPECT_EQ(all.size(), 4u);
  EXPECT_THAT(Gpus(answer, kMaster), IsEmpty());
  EXPECT_THAT(answer.warnings, IsEmpty());
}

TEST(QueueMode, JobsWaitUntilTheGpusAreGivenBack) {
  DeviceBinderOnHost binder(DeviceMode::kQueue, Read(Fakes("3xNVIDIA_TESLA_T4")));
  EXPECT_EQ(binder.Bind(kBoundRun, {kMaster}, {{kMaster, kT4, 2}}).kind,
            DeviceAnswer::Kind::kGranted);
  EXPECT_EQ(binder.Bind(kOtherBoundRun, {kMaster}, {{kMaster, kT4, 2}}).kind,
            DeviceAnswer::Kind::kWait);
  // All or none: the waiting job holds nothing, so a small one still fits.
  const RunKey small{"p", "small", ""};
  EXPECT_EQ(binder.Bind(small, {kMaster}, {{kMaster, kT4, 1}}).kind, DeviceAnswer::Kind::kGranted);
  binder.Release(kBoundRun);
  EXPECT_EQ(binder.Bind(kOtherBoundRun, {kMaster}, {{kMaster, kT4, 2}}).kind,
            DeviceAnswer::Kind::kGranted);
}

TEST(QueueMode, AJobThatCanNeverStartIsRefusedWithTheWaysOut) {
  DeviceBinderOnHost binder(DeviceMode::kQueue, Read(Fakes("2xNVIDIA_TESLA_T4")));
  const DeviceAnswer answer = binder.Bind(
      kBoundRun, kCluster, {{kMaster, kT4, 1}, {kWorker0, kV100, 1}, {kWorker1, kT4, 1}});
  EXPECT_EQ(answer.kind, DeviceAnswer::Kind::kNever);
  EXPECT_THAT(answer.refusal, HasSubstr("2 NVIDIA_TESLA_T4 and 1 NVIDIA_TESLA_V100"));
  EXPECT_THAT(answer.refusal, HasSubstr("has 2 GPUs"));
  EXPECT_THAT(answer.refusal, HasSubstr("--gpus=share"));
  EXPECT_THAT(answer.refusal, HasSubstr("--gpus=cpu"));
}

TEST(QueueMode, GivesTheAskedTypeFirstAndSaysWhatElseItGave) {
  DeviceBinderOnHost binder(DeviceMode::kQueue,
                            Read(Fakes("1xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_V100")));
  const std::vector<Gpu> all = Fakes("1xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_V100").gpus;
  // The first request could be served by any, but must leave the V100s to the second.
  const DeviceAnswer answer =
      binder.Bind(kBoundRun, kCluster, {{kWorker0, kT4, 1}, {kWorker1, kV100, 2}});
  EXPECT_THAT(Gpus(answer, kWorker0), ElementsAre(all[0].uuid));
  EXPECT_THAT(Gpus(answer, kWorker1), ElementsAre(all[1].uuid, all[2].uuid));
  EXPECT_THAT(answer.warnings, IsEmpty());
  const DeviceAnswer mixed = binder.Bind(kBoundRun, kCluster, {{kWorker0, kT4, 2}});
  EXPECT_EQ(mixed.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_THAT(mixed.warnings,
              ElementsAre("worker-replica-0 asked for 2 NVIDIA_TESLA_T4; it gets 1 fake "
                          "NVIDIA_TESLA_V100, which this host has."));
}

TEST(QueueMode, TwoEmulatorsNeverLendTheSameRealGpu) {
  DeviceInventory inventory;
  inventory.gpus = {{0, "GPU-test-of-claims-a", "Tesla T4", kT4},
                    {1, "GPU-test-of-claims-b", "Tesla T4", kT4}};
  DeviceBinderOnHost mine(DeviceMode::kQueue, Read(inventory));
  DeviceBinderOnHost theirs(DeviceMode::kQueue, Read(inventory));
  const DeviceAnswer first = mine.Bind(kBoundRun, {kMaster}, {{kMaster, kT4, 1}});
  const DeviceAnswer second = theirs.Bind(kBoundRun, {kMaster}, {{kMaster, kT4, 1}});
  ASSERT_EQ(second.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_NE(Gpus(first, kMaster), Gpus(second, kMaster));
  EXPECT_EQ(theirs.Bind(kOtherBoundRun, {kMaster}, {{kMaster, kT4, 1}}).kind,
            DeviceAnswer::Kind::kWait);
  mine.Release(kBoundRun);
  EXPECT_EQ(theirs.Bind(kOtherBoundRun, {kMaster}, {{kMaster, kT4, 1}}).kind,
            DeviceAnswer::Kind::kGranted);
}

TEST(ShareMode, LendsInTurnAndWarnsOfSharing) {
  DeviceBinderOnHost binder(DeviceMode::kShare, Read(Fakes("2xNVIDIA_TESLA_T4")));
  const DeviceAnswer first =
      binder.Bind(kBoundRun, kCluster, {{kWorker0, kT4, 1}, {kWorker1, kT4, 1}});
  EXPECT_NE(Gpus(first, kWorker0), Gpus(first, kWorker1));
  EXPECT_THAT(first.warnings, IsEmpty());
  const DeviceAnswer second = binder.Bind(kOtherBoundRun, {kMaster}, {{kMaster, kT4, 4}});
  EXPECT_EQ(second.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_EQ(Gpus(second, kMaster).size(), 2u);
  EXPECT_THAT(second.warnings, ElementsAre(HasSubstr("asked for 4 NVIDIA_TESLA_T4; it gets 2"),
                                           HasSubstr("shares its GPUs")));
}

TEST(CpuMode, HidesAllAndWarnsOnce) {
  DeviceBinderOnHost binder(DeviceMode::kCpu, Read(Fakes("2xNVIDIA_TESLA_T4")));
  const DeviceAnswer answer =
      binder.Bind(kBoundRun, kCluster, {{kWorker0, kT4, 4}, {kWorker1, kT4, 4}});
  EXPECT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_THAT(Gpus(answer, kWorker0), IsEmpty());
  EXPECT_THAT(answer.warnings, ElementsAre("The job asked for 8 NVIDIA_TESLA_T4; it runs on the "
                                           "CPU, because of --gpus=cpu."));
}

TEST(ByHostMode, IsCpuWhereThereAreNoGpus) {
  DeviceBinderOnHost binder(DeviceMode::kByHost, Read({}));
  const DeviceAnswer answer = binder.Bind(kBoundRun, {kMaster}, {{kMaster, kT4, 1}});
  EXPECT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("this host has no GPU")));
}

TEST(Tpu, IsOneLocalDeviceAndIsLentToOneJob) {
  DeviceInventory inventory;
  for (int i = 0; i < 4; ++i) inventory.tpu_chips.push_back({i, "/dev/accel" + std::to_string(i)});
  DeviceBinderOnHost binder(DeviceMode::kByHost, Read(inventory));
  const DeviceAnswer answer = binder.Bind(kBoundRun, {kMaster}, {{kMaster, "TPU_V2", 8}});
  ASSERT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_EQ(Variable(answer, kMaster, "TPU_VISIBLE_CHIPS"), "0,1,2,3");
  EXPECT_EQ(Variable(answer, kMaster, "TPU_CHIPS_PER_PROCESS_BOUNDS"), "2,2,1");
  EXPECT_EQ(Variable(answer, kMaster, "TPU_PROCESS_BOUNDS"), "1,1,1");
  EXPECT_EQ(Variable(answer, kMaster, "CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(binder.Bind(kOtherBoundRun, {kMaster}, {{kMaster, "TPU_V2", 8}}).kind,
            DeviceAnswer::Kind::kWait);
  binder.Release(kBoundRun);
  EXPECT_EQ(binder.Bind(kOtherBoundRun, {kMaster}, {{kMaster, "TPU_V2", 8}}).kind,
            DeviceAnswer::Kind::kGranted);
}

TEST(Tpu, ThatIsFakeIsLentToOneJobOfEachEmulator) {
  DeviceInventory inventory;
  FakeDevices fakes = *MakeFakeDevices("", "v2-8");
  inventory.tpu_chips = fakes.tpu_chips;
  inventory.tpu_nodes = fakes.tpu_nodes;
  inventory.tpu_is_fake = true;
  DeviceBinderOnHost mine(DeviceMode::kByHost, Read(inventory));
  DeviceBinderOnHost theirs(DeviceMode::kByHost, Read(inventory));
  const DeviceAnswer answer = mine.Bind(kBoundRun, kCluster, {{kWorker0, "TPU_V2", 8}});
  ASSERT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
  EXPECT_EQ(Variable(answer, kWorker0, "TPU_VISIBLE_CHIPS"), "0,1,2,3");
  EXPECT_THAT(Nodes(answer, kWorker0),
              ElementsAre("/dev/accel0", "/dev/accel1", "/dev/accel2", "/dev/accel3"));
  EXPECT_THAT(Nodes(answer, kWorker1), IsEmpty());
  EXPECT_THAT(answer.warnings, ElementsAre("The job asked for 8 TPU_V2; it gets the fake TPU (4 "
                                           "chips) and runs on the CPU."));
  EXPECT_EQ(mine.Bind(kOtherBoundRun, {kMaster}, {{kMaster, "TPU_V2", 8}}).kind,
            DeviceAnswer::Kind::kWait);
  EXPECT_EQ(theirs.Bind(kOtherBoundRun, {kMaster}, {{kMaster, "TPU_V2", 8}}).kind,
            DeviceAnswer::Kind::kGranted);
}

TEST(Tpu, IsPretendedWhereThereIsNone) {
  DeviceBinderOnHost binder(DeviceMode::kByHost, Read({}));
  for (const RunKey& run : {kBoundRun, kOtherBoundRun}) {
    const DeviceAnswer answer = binder.Bind(run, {kMaster}, {{kMaster, "TPU_V3", 8}});
    ASSERT_EQ(answer.kind, DeviceAnswer::Kind::kGranted);
    EXPECT_EQ(Variable(answer, kMaster, "TPU_VISIBLE_CHIPS"), "0");
    EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("this host has no TPU")));
  }
}

}  // namespace
}  // namespace caip::host
