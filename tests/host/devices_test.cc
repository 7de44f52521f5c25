#include "host/devices/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "host/devices/fake_devices.h"

namespace caip::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Uuids(const std::vector<Gpu>& gpus) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus) uuids.push_back(gpu.uuid);
  return uuids;
}

// Places where nothing is.
DevicePlaces Nowhere(const Path& root) {
  return {"libno-such-nvml.so.1",
          (root / "bin").string(),
          root / "proc",
          root / "dev",
          {{root / "cdi"}, {}, {}}};
}

void WriteScript(const Path& path, const std::string& text) {
  ASSERT_TRUE(MakeDirectories(path.parent_path()).ok());
  ASSERT_TRUE(WriteFile(path, text).ok());
  ::chmod(path.c_str(), 0755);
}

TEST(ServiceGpuType, IsFoundInProductNames) {
  const std::pair<const char*, const char*> rows[] = {
      {"Tesla T4", "NVIDIA_TESLA_T4"},
      {"Tesla V100-SXM2-16GB", "NVIDIA_TESLA_V100"},
      {"NVIDIA A100-SXM4-40GB", "NVIDIA_TESLA_A100"},
      {"Tesla P100-PCIE-16GB", "NVIDIA_TESLA_P100"},
      {"Tesla P4", "NVIDIA_TESLA_P4"},
      {"Tesla K80", "NVIDIA_TESLA_K80"},
      {"NVIDIA H200", ""},
      {"NVIDIA T400", ""},
  };
  for (const auto& [name, type] : rows) EXPECT_EQ(ServiceGpuType(name), type) << name;
}

TEST(VisibleGpus, AreThoseThatOurOwnStarterLeftUs) {
  const std::vector<Gpu> all = {{0, "GPU-aa"}, {1, "GPU-ab"}, {2, "GPU-c"}};
  EXPECT_THAT(Uuids(LimitToVisible(all, "2,0")), ElementsAre("GPU-c", "GPU-aa"));
  EXPECT_THAT(Uuids(LimitToVisible(all, "GPU-c, GPU-ab")), ElementsAre("GPU-c", "GPU-ab"));
  EXPECT_THAT(Uuids(LimitToVisible(all, "1,9,0")), ElementsAre("GPU-ab"));
  EXPECT_THAT(Uuids(LimitToVisible(all, "")), IsEmpty());
  EXPECT_THAT(Uuids(LimitToVisible(all, "-1")), IsEmpty());
  EXPECT_THAT(Uuids(LimitToVisible(all, "0,0")), ElementsAre("GPU-aa"));
}

TEST(Inventory, OfAHostWithoutDevicesIsEmpty) {
  TemporaryDirectory root;
  const DeviceInventory inventory = ReadInventory(Nowhere(root.path()));
  EXPECT_THAT(inventory.gpus, IsEmpty());
  EXPECT_THAT(inventory.tpu_chips, IsEmpty());
  EXPECT_EQ(inventory.gpu_source, "none");
}

TEST(Inventory, AsksNvml) {
  TemporaryDirectory root;
  DevicePlaces places = Nowhere(root.path());
  places.nvml = CAIP_FAKE_NVML;
  const DeviceInventory inventory = ReadInventory(places);
  EXPECT_EQ(inventory.gpu_source, "NVML");
  // The library lists them in another order, and one that does not answer.
  EXPECT_THAT(Uuids(inventory.gpus), ElementsAre("GPU-first", "GPU-second", "MIG-big", "MIG-small"))
      << "a GPU in MIG mode can only be used through its instances";
  EXPECT_EQ(inventory.gpus[0].index, 0);
  EXPECT_EQ(inventory.gpus[0].name, "Tesla T4");
  EXPECT_EQ(inventory.gpus[0].type, "NVIDIA_TESLA_T4");
  EXPECT_EQ(inventory.gpus[0].memory_mib, 15360);
}

TEST(Inventory, TakesTheFilesOfAMigInstanceFromItsDescription) {
  TemporaryDirectory root;
  ASSERT_TRUE(MakeDirectories(root.path() / "cdi").ok());
  ASSERT_TRUE(WriteFile(root.path() / "cdi/nvidia.yaml",
                        "kind: nvidia.com/gpu\n"
                        "devices:\n"
                        "- name: MIG-small\n"
                        "  containerEdits: {deviceNodes: [{path: /dev/nvidia-caps/cap3}]}\n")
                  .ok());
  DevicePlaces places = Nowhere(root.path());
  places.nvml = CAIP_FAKE_NVML;
  const DeviceInventory inventory = ReadInventory(places);
  const std::string by_number = (root.path() / "dev/nvidia0").string();
  EXPECT_THAT(inventory.gpus[0].nodes, ElementsAre(engine::DeviceNode{by_number, by_number}));
  EXPECT_THAT(inventory.gpus[3].nodes,
              ElementsAre(engine::DeviceNode{"/dev/nvidia-caps/cap3", "/dev/nvidia-caps/cap3"}));
}

// A host with a split GPU, whose file in /dev has the number 5, and the files of its instances.
class SplitGpu : public ::testing::Test {
 protected:
  SplitGpu() {
    Write("proc/gpus/0000:00:06.0/information", "Device Minor: \t 5\n");
    const std::pair<const char*, const char*> capabilities[] = {
        {"mig/config", "1"},  {"gpu5/mig/gi2/access", "21"},     {"gpu5/mig/gi2/ci0/access", "22"},
        {"mig/monitor", "2"}, {"gpu5/mig/gi3/access", "30"},     {"gpu5/mig/gi3/ci0/access", "31"},
        {"gone", "99"},       {"gpu5/mig/gi3/ci1/access", "32"},
    };
    for (const auto& [name, minor] : capabilities) {
      Write(std::string("proc/capabilities/") + name,
            std::string("DeviceFileMinor: ") + minor + "\nDeviceFileMode: 292\n");
      Write(std::string("dev/nvidia-caps/nvidia-cap") + minor, "");
    }
    for (const char* name : {"nvidiactl", "nvidia5"}) Write(std::string("dev/") + name, "");
  }
  void Write(const std::string& name, const std::string& text) {
    const Path file = root_.path() / name;
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, text).ok());
  }
  DevicePlaces Places() const {
    DevicePlaces places = Nowhere(root_.path());
    places.nvml = CAIP_FAKE_NVML;
    return places;
  }
  // Below /dev.
  std::vector<std::string> FilesOf(const std::vector<engine::DeviceNode>& nodes) const {
    std::vector<std::string> names;
    for (const engine::DeviceNode& node : nodes) {
      names.push_back(Path(node.shown).lexically_relative(root_.path() / "dev"));
    }
    return names;
  }

  TemporaryDirectory root_;
};

TEST_F(SplitGpu, IsUsedThroughItsInstances) {
  const DeviceInventory inventory = ReadInventory(Places());
  const Gpu& big = inventory.gpus.at(2);
  EXPECT_EQ(big.index, 2);
  EXPECT_EQ(big.name, "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
  EXPECT_EQ(big.type, "NVIDIA_TESLA_A100");
  EXPECT_EQ(big.pci_bus_id, "00000000:00:06.0");
  EXPECT_EQ(big.mig, (MigInstance{"GPU-third", 2, 2, 0}));
  EXPECT_EQ(inventory.gpus.at(3).mig, (MigInstance{"GPU-third", 2, 3, 1}));
}

// Neither those of other instances, nor those with which a program could split the GPU again.
TEST_F(SplitGpu, GivesEachInstanceItsOwnFiles) {
  const DeviceInventory inventory = ReadInventory(Places());
  EXPECT_THAT(FilesOf(inventory.gpus.at(2).nodes),
              ElementsAre("nvidia5", "nvidia-caps/nvidia-cap21", "nvidia-caps/nvidia-cap22"));
  EXPECT_THAT(FilesOf(inventory.gpus.at(3).nodes),
              ElementsAre("nvidia5", "nvidia-caps/nvidia-cap30", "nvidia-caps/nvidia-cap32"));
  EXPECT_THAT(FilesOf(inventory.gpu_control_nodes), ElementsAre("nvidiactl"));
}

TEST_F(SplitGpu, IsLimitedToTheInstancesThatOurOwnStarterLeftUs) {
  const auto left = [&](const char* visible) {
    return Uuids(InventoryFor(Places(), {}, visible).gpus);
  };
  EXPECT_THAT(left("MIG-small"), ElementsAre("MIG-small"));
  EXPECT_THAT(left("MIG-GPU-third/3/1,MIG-GPU-third/2/0"), ElementsAre("MIG-small", "MIG-big"));
  EXPECT_THAT(left("2"), ElementsAre("MIG-big"));
  EXPECT_THAT(left("MIG-GPU-third/9/9"), IsEmpty());
}

// nvidia-smi does not say which instance has which files.
TEST_F(SplitGpu, IsSeenByNvidiaSmi) {
  WriteScript(root_.path() / "bin/nvidia-smi",
              "#!/bin/sh\n"
              "case $1 in --query-gpu*)\n"
              "echo '0, GPU-first, Tesla T4, 15360, 00000000:00:04.0'\n"
              "echo '1, GPU-third, NVIDIA A100-SXM4-40GB, 40960, 00000000:00:06.0' ;;\n"
              "-L)\n"
              "echo 'GPU 0: Tesla T4 (UUID: GPU-first)'\n"
              "echo 'GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-third)'\n"
              "echo '  MIG 3g.20gb     Device  0: (UUID: MIG-big)'\n"
              "echo '  MIG 1c.2g.10gb  Device  1: (UUID: MIG-small)' ;;\n"
              "esac\n");
  DevicePlaces places = Nowhere(root_.path());
  places.path += ":/usr/bin:/bin";
  const DeviceInventory inventory = ReadInventory(places);
  EXPECT_THAT(Uuids(inventory.gpus), ElementsAre("GPU-first", "MIG-big", "MIG-small"));
  const Gpu& small = inventory.gpus.at(2);
  EXPECT_EQ(small.index, 2);
  EXPECT_EQ(small.name, "NVIDIA A100-SXM4-40GB MIG 1c.2g.10gb");
  EXPECT_EQ(small.type, "NVIDIA_TESLA_A100");
  EXPECT_THAT(FilesOf(small.nodes), testing::UnorderedElementsAre(
                                        "nvidia5", "nvidia-caps/nvidia-cap21",
                                        "nvidia-caps/nvidia-cap22", "nvidia-caps/nvidia-cap30",
                                        "nvidia-caps/nvidia-cap31", "nvidia-caps/nvidia-cap32"));
}

TEST(Inventory, AsksNvidiaSmiWhereThereIsNoNvml) {
  TemporaryDirectory root;
  WriteScript(root.path() / "bin/nvidia-smi",
              "#!/bin/sh\n"
              "test \"$*\" = '--query-gpu=index,uuid,name,memory.total,pci.bus_id "
              "--format=csv,noheader,nounits' || exit 9\n"
              "echo '0, GPU-a, Tesla T4, 15360, 00000000:00:04.0'\n"
              "echo '1, GPU-b, NVIDIA H200, 143771, 00000000:00:05.0'\n");
  DevicePlaces places = Nowhere(root.path());
  places.path += ":/usr/bin:/bin";
  const DeviceInventory inventory = ReadInventory(places);
  EXPECT_EQ(inventory.gpu_source, "nvidia-smi");
  EXPECT_THAT(Uuids(inventory.gpus), ElementsAre("GPU-a", "GPU-b"));
  EXPECT_EQ(inventory.gpus[1].memory_mib, 143771);
  EXPECT_EQ(inventory.gpus[1].type, "");
}

TEST(Inventory, ReadsProcWhereNvidiaSmiFails) {
  TemporaryDirectory root;
  WriteScript(root.path() / "bin/nvidia-smi", "#!/bin/sh\necho 'no driver'; exit 9\n");
  const Path gpus = root.path() / "proc/gpus";
  ASSERT_TRUE(MakeDirectories(gpus / "0000:00:05.0").ok());
  ASSERT_TRUE(MakeDirectories(gpus / "0000:00:04.0").ok());
  ASSERT_TRUE(WriteFile(gpus / "0000:00:04.0/information",
                        "Model: \t\t Tesla P4\nIRQ:   \t\t 11\nGPU UUID: \t GPU-4\n")
                  .ok());
  ASSERT_TRUE(WriteFile(gpus / "0000:00:05.0/information",
                        "Model: \t\t Tesla P4\nGPU UUID: \t GPU-????????\n")
                  .ok());
  DevicePlaces places = Nowhere(root.path());
  places.path += ":/usr/bin:/bin";
  const DeviceInventory inventory = ReadInventory(places);
  EXPECT_EQ(inventory.gpu_source, "/proc/driver/nvidia");
  EXPECT_THAT(Uuids(inventory.gpus), ElementsAre("GPU-4", "1"));  // a sleeping one by its index
  EXPECT_EQ(inventory.gpus[0].type, "NVIDIA_TESLA_P4");
}

TEST(Inventory, NamesTheFilesOfEachGpuByItsMinorNumber) {
  TemporaryDirectory root;
  for (const auto& [bus_id, minor] :
       {std::pair("0000:00:04.0", "5"), std::pair("0000:00:05.0", "2")}) {
    const Path directory = root.path() / "proc/gpus" / bus_id;
    ASSERT_TRUE(MakeDirectories(directory).ok());
    ASSERT_TRUE(WriteFile(directory / "information",
                          std::string("Model: \t\t Tesla T4\nGPU UUID: \t GPU-") + minor +
                              "\nDevice Minor: \t " + minor + "\n")
                    .ok());
  }
  ASSERT_TRUE(MakeDirectories(root.path() / "dev").ok());
  for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia2", "nvidia5"}) {
    ASSERT_TRUE(WriteFile(root.path() / "dev" / name, "").ok());
  }
  const DeviceInventory inventory = ReadInventory(Nowhere(root.path()));
  ASSERT_EQ(inventory.gpus.size(), 2u);
  EXPECT_EQ(inventory.gpus[0].nodes.at(0).shown, (root.path() / "dev/nvidia5").string());
  EXPECT_EQ(inventory.gpus[1].nodes.at(0).file, (root.path() / "dev/nvidia2").string());
  ASSERT_EQ(inventory.gpu_control_nodes.size(), 2u);
  EXPECT_EQ(inventory.gpu_control_nodes[0].shown, (root.path() / "dev/nvidiactl").string());
}

TEST(Inventory, FindsTpuChipsByTheirDeviceFiles) {
  TemporaryDirectory root;
  for (const char* name : {"accel0", "accel1", "accel10", "accelerated", "null"}) {
    ASSERT_TRUE(MakeDirectories(root.path() / "dev").ok());
    ASSERT_TRUE(WriteFile(root.path() / "dev" / name, "").ok());
  }
  const DeviceInventory inventory = ReadInventory(Nowhere(root.path()));
  ASSERT_EQ(inventory.tpu_chips.size(), 3u);
  EXPECT_EQ(inventory.tpu_chips[2].device, (root.path() / "dev/accel10").string());
}

TEST(Inventory, FindsTpuChipsOfVfio) {
  TemporaryDirectory root;
  ASSERT_TRUE(MakeDirectories(root.path() / "dev/vfio").ok());
  for (const char* name : {"0", "1", "vfio"}) {
    ASSERT_TRUE(WriteFile(root.path() / "dev/vfio" / name, "").ok());
  }
  const DeviceInventory inventory = ReadInventory(Nowhere(root.path()));
  EXPECT_EQ(inventory.tpu_chips.size(), 2u);
  const std::string control = (root.path() / "dev/vfio/vfio").string();
  EXPECT_EQ(inventory.tpu_nodes.back(), (engine::DeviceNode{control, control}));
}

TEST(Inventory, OfFakesLooksForNoRealGpus) {
  TemporaryDirectory root;
  WriteScript(root.path() / "bin/nvidia-smi", "#!/bin/sh\ntouch \"$(dirname \"$0\")/was-run\"\n");
  const DeviceInventory inventory =
      InventoryFor(Nowhere(root.path()), *MakeFakeDevices("1xNVIDIA_TESLA_T4", ""), "");
  EXPECT_EQ(inventory.gpus.size(), 1u);
  EXPECT_TRUE(inventory.gpus_are_fake);
  EXPECT_FALSE(std::filesystem::exists(root.path() / "bin/was-run"));
}

TEST(Inventory, OfAFakeTpuHasTheGpusOfTheHost) {
  TemporaryDirectory root;
  ASSERT_TRUE(MakeDirectories(root.path() / "dev").ok());
  ASSERT_TRUE(WriteFile(root.path() / "dev/accel7", "").ok());
  DevicePlaces places = Nowhere(root.path());
  places.nvml = CAIP_FAKE_NVML;
  const DeviceInventory inventory =
      InventoryFor(places, *MakeFakeDevices("", "v5litepod-1"), "GPU-first");
  EXPECT_THAT(Uuids(inventory.gpus), ElementsAre("GPU-first"));
  EXPECT_FALSE(inventory.gpus_are_fake);
  EXPECT_TRUE(inventory.tpu_is_fake);
  EXPECT_THAT(inventory.tpu_nodes, ElementsAre(engine::DeviceNode{"/dev/null", "/dev/vfio/0"},
                                               engine::DeviceNode{"/dev/null", "/dev/vfio/vfio"}));
}

}  // namespace
}  // namespace caip::host
