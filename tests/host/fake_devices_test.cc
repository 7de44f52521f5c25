#include "host/devices/fake_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace caip::host {
namespace {

using engine::DeviceNode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> UuidsOfFakes(const std::vector<Gpu>& gpus) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus) uuids.push_back(gpu.uuid);
  return uuids;
}

std::vector<std::string> ShownFiles(const std::vector<DeviceNode>& nodes) {
  std::vector<std::string> shown;
  for (const DeviceNode& node : nodes) shown.push_back(node.shown);
  return shown;
}

TEST(FakeGpus, HaveTypesAndWellFormedUuids) {
  const auto gpus = FakeGpus("2xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_V100");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 3u);
  EXPECT_EQ((*gpus)[1].type, "NVIDIA_TESLA_T4");
  EXPECT_EQ((*gpus)[2].type, "NVIDIA_TESLA_V100");
  const std::regex form("GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  for (const Gpu& gpu : *gpus) EXPECT_TRUE(std::regex_match(gpu.uuid, form)) << gpu.uuid;
  const std::vector<std::string> uuids = UuidsOfFakes(*gpus);
  EXPECT_EQ(std::set<std::string>(uuids.begin(), uuids.end()).size(), 3u);
  EXPECT_EQ(uuids, UuidsOfFakes(*FakeGpus("2xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_V100")));
}

TEST(FakeGpus, BrokenTextsAreExplained) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "no count"},
      {"4", "no count"},
      {"xNVIDIA_TESLA_T4", "no count"},
      {"0xNVIDIA_TESLA_T4", "no count"},
      {"-1xNVIDIA_TESLA_T4", "no count"},
      {"4xT4", "'T4' is not a GPU type of the service"},
      {"4xTPU_V2", "not a GPU type of the service"},
      {"1xNVIDIA_TESLA_T4,", "no count"},
      {"99999xNVIDIA_TESLA_T4", "more than 1024"},
      {"1000xNVIDIA_TESLA_T4,25xNVIDIA_TESLA_P4", "more than 1024"},
      {"1xNVIDIA_TESLA_T4:1x1g.5gb", "'NVIDIA_TESLA_T4' has no MIG"},
      {"1xNVIDIA_TESLA_A100:", "'' has no count"},
      {"1xNVIDIA_TESLA_A100:2g.10gb", "no count"},
      {"1xNVIDIA_TESLA_A100:1x5g.25gb", "'5g.25gb' is not a MIG profile of an A100 (1g.5gb, "},
      {"1xNVIDIA_TESLA_A100:4x2g.10gb", "'4x2g.10gb' do not fit on one GPU"},
      {"1xNVIDIA_TESLA_A100:1x4g.20gb+2x1g.10gb+1x1g.5gb", "do not fit on one GPU"},
      {"1xNVIDIA_TESLA_A100:8x1g.5gb", "do not fit on one GPU"},
  };
  for (const auto& [text, why] : rows) {
    const auto gpus = FakeGpus(text);
    ASSERT_FALSE(gpus.ok()) << text;
    EXPECT_THAT(gpus.error().message, HasSubstr(why)) << text;
    EXPECT_THAT(gpus.error().message, HasSubstr("4xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_V100"));
  }
}

TEST(FakeGpus, AreHarmlessFiles) {
  const auto gpus = FakeGpus("2xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:1x7g.40gb");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  for (const Gpu& gpu : *gpus) {
    for (const DeviceNode& node : gpu.nodes) EXPECT_EQ(node.file, "/dev/null") << node.shown;
  }
}

TEST(FakeGpus, AreSplitIntoInstancesWithFilesOfTheirOwn) {
  const auto gpus =
      FakeGpus("1xNVIDIA_TESLA_P4,1xNVIDIA_TESLA_A100:2x1g.5gb+1x3g.20gb,1xNVIDIA_TESLA_T4");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 5u);
  const Gpu& large = (*gpus)[1];
  EXPECT_EQ(large.name, "fake NVIDIA_TESLA_A100 MIG 3g.20gb");
  EXPECT_EQ(large.type, "NVIDIA_TESLA_A100");
  EXPECT_EQ(large.index, 1);
  EXPECT_THAT(large.uuid, ::testing::StartsWith("MIG-"));
  EXPECT_EQ(large.mig->parent_index, 1);
  EXPECT_THAT(ShownFiles(large.nodes), ElementsAre("/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap147",
                                                   "/dev/nvidia-caps/nvidia-cap148"));
  const Gpu& small = (*gpus)[3];
  EXPECT_EQ(small.name, "fake NVIDIA_TESLA_A100 MIG 1g.5gb");
  EXPECT_EQ(small.mig->parent_uuid, large.mig->parent_uuid);
  EXPECT_THAT(ShownFiles(small.nodes), ElementsAre("/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap210",
                                                   "/dev/nvidia-caps/nvidia-cap211"));
  EXPECT_EQ((*gpus)[4].index, 4);
  EXPECT_THAT(ShownFiles((*gpus)[4].nodes), ElementsAre("/dev/nvidia2"));
  const std::vector<std::string> uuids = UuidsOfFakes(*gpus);
  EXPECT_EQ(std::set<std::string>(uuids.begin(), uuids.end()).size(), 5u);
}

TEST(FakeGpus, FillAGpuWithInstances) {
  for (const char* parts : {"7x1g.5gb", "3x2g.10gb+1x1g.5gb", "1x4g.20gb+1x3g.20gb", "1x7g.40gb",
                            "4x1g.10gb", "2x3g.20gb"}) {
    EXPECT_TRUE(FakeGpus(std::string("1xNVIDIA_TESLA_A100:") + parts).ok()) << parts;
  }
  EXPECT_EQ(FakeGpus("2xNVIDIA_TESLA_A100:3x2g.10gb")->size(), 6u);
}

TEST(FakeTpu, HasTheFilesOfItsKind) {
  const auto board = MakeFakeDevices("", "v3-8");
  ASSERT_TRUE(board.ok()) << board.error().message;
  EXPECT_EQ(board->tpu_chips.size(), 4u);
  EXPECT_THAT(board->tpu_nodes, Contains(DeviceNode{"/dev/null", "/dev/accel3"}));
  const auto chips = MakeFakeDevices("", "v5litepod-4");
  EXPECT_EQ(chips->tpu_chips.size(), 4u);
  EXPECT_THAT(ShownFiles(chips->tpu_nodes), ElementsAre("/dev/vfio/0", "/dev/vfio/1", "/dev/vfio/2",
                                                        "/dev/vfio/3", "/dev/vfio/vfio"));
  EXPECT_THAT(chips->gpus, IsEmpty());
  EXPECT_THAT(chips->gpu_control_nodes, IsEmpty());
}

TEST(FakeTpu, OfAnotherKindIsRefusedWithTheKnownOnes) {
  for (const char* text : {"v2", "TPU_V2", "v2-8 ", "v2-32"}) {
    const auto fakes = MakeFakeDevices("", text);
    ASSERT_FALSE(fakes.ok()) << text;
    EXPECT_EQ(fakes.error().message,
              "fake TPU '" + std::string(text) +
                  "': caip emulates no such TPU. Use one of v2-8, v3-8, v4-8, v5litepod-1, "
                  "v5litepod-4, v5litepod-8.");
  }
}

TEST(FakeGpus, HaveToolsThatFindAFileForEach) {
  const TemporaryDirectory root;
  FakeDevices fakes = *MakeFakeDevices("1xNVIDIA_TESLA_A100:1x2g.10gb,1xNVIDIA_TESLA_T4", "");
  ASSERT_TRUE(GiveGpuTools({"/opt/smi", "/opt/nvml.so"}, root.path() / "made/fakes", fakes).ok());
  EXPECT_THAT(fakes.gpu_control_nodes,
              Contains(DeviceNode{"/opt/smi", "/dev/caip-gpus/nvidia-smi", true}));
  EXPECT_THAT(fakes.gpu_control_nodes,
              Contains(DeviceNode{"/opt/nvml.so", "/dev/caip-gpus/libnvidia-ml.so.1", true}));
  const DeviceNode file = fakes.gpus[1].nodes.back();
  EXPECT_EQ(file.shown, "/dev/caip-gpus/gpu1");
  EXPECT_TRUE(file.is_read_only);
  EXPECT_EQ(*ReadFile(file.file), "1\t" + fakes.gpus[1].uuid +
                                      "\tfake NVIDIA_TESLA_T4\t15360\t00000000:04:01.0\t7.5\t70\n");
  EXPECT_EQ(*ReadFile(fakes.gpus[0].nodes.back().file),
            "0\t" + fakes.gpus[0].mig->parent_uuid +
                "\tfake NVIDIA_TESLA_A100\t40960\t00000000:04:00.0\t8.0\t400\t2g.10gb\t" +
                fakes.gpus[0].uuid + "\t3\t9984\n");
}

TEST(FakeGpus, ThatAreNoneWriteNothing) {
  const TemporaryDirectory root;
  FakeDevices fakes = *MakeFakeDevices("", "v2-8");
  ASSERT_TRUE(GiveGpuTools({"/opt/smi", "/opt/nvml.so"}, root.path() / "fakes", fakes).ok());
  EXPECT_THAT(fakes.gpu_control_nodes, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(root.path() / "fakes"));
}

}  // namespace
}  // namespace caip::host
