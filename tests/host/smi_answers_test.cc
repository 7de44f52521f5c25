#include "host/devices/smi/smi_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/devices/mig.h"

namespace caip::host::smi {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const SmiGpu kWhole{2, "GPU-b", "fake NVIDIA_TESLA_T4", 15360, "00000000:04:02.0"};
const SmiGpu kSplit{0,
                    "GPU-a",
                    "fake NVIDIA_TESLA_A100",
                    40960,
                    "00000000:04:00.0",
                    {{"2g.10gb", "MIG-a"}, {"1c.2g.10gb", "MIG-b"}}};

std::string OutOf(const std::vector<std::string>& words, std::vector<SmiGpu> gpus) {
  const SmiAnswer answer = AnswerSmi(words, std::move(gpus));
  EXPECT_EQ(answer.exit_code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  return answer.out;
}

TEST(NvidiaSmi, ListsGpusAndInstancesAsTheRealOneDoes) {
  const std::string expected =
      "GPU 0: fake NVIDIA_TESLA_A100 (UUID: GPU-a)\n"
      "  MIG 2g.10gb     Device  0: (UUID: MIG-a)\n"
      "  MIG 1c.2g.10gb  Device  1: (UUID: MIG-b)\n"
      "GPU 1: fake NVIDIA_TESLA_T4 (UUID: GPU-b)\n";
  EXPECT_EQ(OutOf({"-L"}, {kSplit, kWhole}), expected);
  EXPECT_EQ(OutOf({"--list-gpus"}, {kSplit, kWhole}), expected);
  EXPECT_EQ(OutOf({"-L", "-i", "1"}, {kSplit, kWhole}),
            "GPU 1: fake NVIDIA_TESLA_T4 (UUID: GPU-b)\n");
}

// The form that caip itself reads from the real one.
TEST(NvidiaSmi, ListsInstancesSoThatTheyAreFoundAgain) {
  const std::vector<Gpu> found =
      WithMigInstances({{0, "GPU-a", "x"}, {1, "GPU-b", "y"}}, OutOf({"-L"}, {kSplit, kWhole}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].uuid, "MIG-a");
  EXPECT_EQ(found[1].name, "x MIG 1c.2g.10gb");
  EXPECT_EQ(found[2].uuid, "GPU-b");
}

TEST(NvidiaSmi, AnswersQueriesAsTables) {
  const std::string query = "--query-gpu=index,gpu_uuid, name,memory.total,mig.mode.current";
  EXPECT_EQ(OutOf({query, "--format=csv"}, {kSplit, kWhole}),
            "index, uuid, name, memory.total [MiB], mig.mode.current\n"
            "0, GPU-a, fake NVIDIA_TESLA_A100, 40960 MiB, Enabled\n"
            "1, GPU-b, fake NVIDIA_TESLA_T4, 15360 MiB, Disabled\n");
  EXPECT_EQ(OutOf({query, "--format=csv,noheader,nounits", "--id=GPU-b"}, {kSplit, kWhole}),
            "1, GPU-b, fake NVIDIA_TESLA_T4, 15360, Disabled\n");
  EXPECT_EQ(
      OutOf({"--query-gpu=count,utilization.gpu,memory.free,pci.bus_id", "--format=csv,noheader"},
            {kWhole}),
      "1, 0 %, 15360 MiB, 00000000:04:02.0\n");
  SmiGpu known = kWhole;
  known.compute_capability = "7.5";
  EXPECT_EQ(OutOf({"--query-gpu=driver_version,compute_cap", "--format=csv,noheader"}, {known}),
            "535.0.0, 7.5\n");
}

// As the real one does for a GPU in MIG mode.
TEST(NvidiaSmi, HasNoUtilizationOfASplitGpu) {
  EXPECT_EQ(OutOf({"--query-gpu=utilization.gpu,utilization.memory", "--format=csv,noheader"},
                  {kSplit, kWhole}),
            "[N/A], [N/A]\n0 %, 0 %\n");
}

TEST(NvidiaSmi, WithoutWordsPrintsATableThatSaysThatTheGpusAreFake) {
  const std::string table = OutOf({}, {kSplit, kWhole});
  EXPECT_THAT(table, HasSubstr("these GPUs are fake"));
  EXPECT_THAT(table, HasSubstr("|   0  fake NVIDIA_TESLA_A100 "));
  EXPECT_THAT(table, HasSubstr("0MiB / 15360MiB"));
  EXPECT_THAT(table, HasSubstr("MIG 1c.2g.10gb"));
  size_t width = table.find('\n');
  for (size_t at = 0; at < table.size(); at += width + 1) {
    EXPECT_EQ(table.find('\n', at) - at, width) << table;
  }
}

TEST(NvidiaSmi, RefusesWhatItDoesNotEmulate) {
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"-q"}, "nvidia-smi: '-q' is not supported for fake GPUs."},
      {{"-i"}, "nvidia-smi: '-i' is not supported for fake GPUs."},
      {{"-L", "dmon"}, "nvidia-smi: 'dmon' is not supported for fake GPUs."},
      {{"--query-gpu=name"}, "nvidia-smi: '' is not a valid format. Use --format=csv"},
      {{"--query-gpu=name", "--format=xml"}, "nvidia-smi: 'xml' is not a valid format."},
      {{"--query-gpu=name", "--format=noheader"}, "nvidia-smi: 'noheader' is not a valid format."},
      {{"--query-gpu=name,power.draw", "--format=csv"},
       "nvidia-smi: Field \"power.draw\" is not a field of fake GPUs. Use index, count, uuid, "},
      {{"--query-gpu=", "--format=csv"}, "nvidia-smi: Field \"\" is not a field"},
  };
  for (const auto& [words, why] : rows) {
    const SmiAnswer answer = AnswerSmi(words, {kWhole});
    EXPECT_EQ(answer.exit_code, 2) << why;
    EXPECT_EQ(answer.out, "") << why;
    EXPECT_THAT(answer.err, StartsWith(why));
    EXPECT_EQ(answer.err.back(), '\n');
  }
}

TEST(NvidiaSmi, FindsNoDevices) {
  EXPECT_EQ(AnswerSmi({"-L"}, {}).exit_code, 6);
  EXPECT_EQ(AnswerSmi({}, {}).out, "No devices were found\n");
  const SmiAnswer other = AnswerSmi({"-L", "--id=7"}, {kWhole});
  EXPECT_EQ(other.exit_code, 6);
  EXPECT_THAT(other.err, HasSubstr("has no GPU '7'"));
}

TEST(NvidiaSmi, HelpNamesTheFields) {
  EXPECT_THAT(OutOf({"--help"}, {}), HasSubstr("Fields: index, count, uuid, name, pci.bus_id, "));
}

TEST(FileOfAGpu, IsReadAsItWasWritten) {
  SmiGpu full = kSplit;
  full.compute_capability = "8.0";
  full.power_watts = 400;
  full.instances = {{"2g.10gb", "MIG-a", 3, 9984}};
  for (const SmiGpu& gpu : {kWhole, kSplit, full}) {
    EXPECT_EQ(ParseSmiGpu(DescribeSmiGpu(gpu)), gpu);
  }
  for (const char* text : {"", "\n", "1\tGPU-a\tname\t4", "1\tGPU-a\tname\t4\tbus\t7.5",
                           "1\tGPU-a\tname\t4\tbus\t7.5\t70\t1g.5gb\tMIG-a"}) {
    EXPECT_EQ(ParseSmiGpu(text), std::nullopt) << text;
  }
}

TEST(FilesOfGpus, OfOneGpuAreOneGpuWithAllItsInstances) {
  SmiGpu other = kSplit;
  other.instances = {{"1g.5gb", "MIG-c"}};
  const std::vector<SmiGpu> merged = MergeSmiGpus({kWhole, kSplit, other});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].uuid, "GPU-a");
  ASSERT_EQ(merged[0].instances.size(), 3u);
  EXPECT_EQ(merged[0].instances[2], (Instance{"1g.5gb", "MIG-c"}));
  EXPECT_EQ(merged[1], kWhole);
}

}  // namespace
}  // namespace caip::host::smi
