// libcaip-nvml.so: its start and its end, the machine, and how programs find its devices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "host/devices/nvml.h"
#include "tests/host/fake_nvml_world.h"

namespace caip::host {
namespace {

using ::testing::StartsWith;

// This is how caip itself asks a real one.
TEST_F(FakeNvml, ReportsTheGpusThatWereMade) {
  Open("2xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_A100:1x2g.10gb+1x3g.20gb,1xNVIDIA_TESLA_K80");
  const auto asked = AskNvml(path_);
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  ASSERT_EQ(asked->size(), 7u);
  for (size_t i = 0; i < asked->size(); ++i) {
    const caip::host::Gpu& gpu = (*asked)[i];
    const caip::host::Gpu& made = fakes_.gpus[i];
    EXPECT_EQ(gpu.uuid, made.uuid);
    EXPECT_EQ(gpu.name, made.name);
    EXPECT_EQ(gpu.memory_mib, made.memory_mib);
    EXPECT_EQ(gpu.pci_bus_id, made.pci_bus_id);
    ASSERT_EQ(gpu.mig.has_value(), made.mig.has_value());
    if (!gpu.mig) continue;
    EXPECT_EQ(gpu.mig->parent_uuid, made.mig->parent_uuid);
    EXPECT_EQ(gpu.mig->gpu_instance, made.mig->gpu_instance);
    EXPECT_EQ(gpu.mig->compute_instance, made.mig->compute_instance);
  }
}

TEST_F(FakeNvml, ListsWhatNvidiaSmiLists) {
  Open("12xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:7x1g.5gb");
  EXPECT_THAT(ListByNvml(), StartsWith("GPU 0: fake NVIDIA_TESLA_T4 (UUID: GPU-"));
  EXPECT_EQ(ListByNvml(), ListBySmi());
}

// As for a replica that was lent a part of the GPUs, and one instance of a GPU that has two.
TEST_F(FakeNvml, ListsOnlyGpusWhoseFilesAreThere) {
  Open("3xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:1x2g.10gb+1x3g.20gb", false);
  std::filesystem::remove(path_.parent_path() / "gpu0");
  std::filesystem::remove(path_.parent_path() / "gpu3");
  ASSERT_TRUE(WriteFile(path_.parent_path() / "gpu7", "not of a GPU").ok());
  ASSERT_TRUE(WriteFile(path_.parent_path() / "gpu8", "").ok());
  ASSERT_EQ(Call("nvmlInitWithFlags", 0u), kNvmlDone);
  EXPECT_EQ(ListByNvml(), ListBySmi());
  EXPECT_EQ(GetText("nvmlDeviceGetUUID", Gpu(0)), fakes_.gpus[1].uuid);
  EXPECT_EQ(Get<unsigned>("nvmlDeviceGetMinorNumber", Gpu(0)), 1u);
  EXPECT_EQ(Get<unsigned>("nvmlDeviceGetIndex", Gpu(1)), 1u);
  EXPECT_EQ(GetText("nvmlDeviceGetUUID", InstanceOf(Gpu(2), 0)), fakes_.gpus[4].uuid);
}

TEST_F(FakeNvml, HasNoDriverWithoutFiles) {
  Open("1xNVIDIA_TESLA_T4", false);
  std::filesystem::remove(path_.parent_path() / "gpu0");
  EXPECT_EQ(Call("nvmlInit_v2"), kNvmlDriverNotLoaded);
  unsigned count = 7;
  EXPECT_EQ(Call("nvmlDeviceGetCount_v2", &count), kNvmlUninitialized);
  EXPECT_EQ(Call("nvmlInitWithFlags", 1u), kNvmlDone) << "NVML_INIT_FLAG_NO_GPUS";
  EXPECT_EQ(Call("nvmlDeviceGetCount", &count), kNvmlDone);
  EXPECT_EQ(count, 0u);
}

TEST_F(FakeNvml, EndsWithTheLastShutdown) {
  Open("1xNVIDIA_TESLA_T4");
  const Handle gpu = Gpu(0);
  unsigned index = 0;
  EXPECT_EQ(Call("nvmlInit"), kNvmlDone);
  EXPECT_EQ(Call("nvmlShutdown"), kNvmlDone);
  EXPECT_EQ(Call("nvmlDeviceGetIndex", gpu, &index), kNvmlDone);
  EXPECT_EQ(Call("nvmlShutdown"), kNvmlDone);
  EXPECT_EQ(Call("nvmlDeviceGetIndex", gpu, &index), kNvmlUninitialized);
  EXPECT_EQ(Call("nvmlShutdown"), kNvmlUninitialized);
  EXPECT_EQ(Call("nvmlInit_v2"), kNvmlDone);
  EXPECT_EQ(Call("nvmlDeviceGetIndex", gpu, &index), kNvmlDone) << "the handle is the same again";
}

TEST_F(FakeNvml, DescribesTheMachine) {
  Open(kMixedFakes);
  char text[80] = {};
  EXPECT_EQ(Call("nvmlSystemGetDriverVersion", static_cast<char*>(text), 80u), kNvmlDone);
  EXPECT_STREQ(text, smi::kDriverVersion);
  EXPECT_EQ(Call("nvmlSystemGetDriverVersion", static_cast<char*>(text), 7u),
            kNvmlInsufficientSize);
  EXPECT_EQ(Call("nvmlSystemGetNVMLVersion", static_cast<char*>(text), 80u), kNvmlDone);
  EXPECT_EQ(text, std::string("12.") + smi::kDriverVersion);
  for (const char* name : {"nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"}) {
    int version = 0;
    EXPECT_EQ(Call(name, &version), kNvmlDone);
    EXPECT_EQ(version, 12020);
    EXPECT_EQ(Call(name, nullptr), kNvmlInvalidArgument);
  }
}

TEST_F(FakeNvml, NamesAnswers) {
  Open(kMixedFakes, false);
  const auto name = reinterpret_cast<const char* (*)(int)>(::dlsym(library_, "nvmlErrorString"));
  ASSERT_NE(name, nullptr);
  EXPECT_STREQ(name(kNvmlDone), "Success");
  EXPECT_STREQ(name(kNvmlNotSupported), "Not Supported");
  EXPECT_STREQ(name(kNvmlNotFound), "Not Found");
  EXPECT_STREQ(name(12345), "Unknown Error");
}

TEST_F(FakeNvml, FindsDevicesByUuid) {
  Open(kMixedFakes);
  Handle device = nullptr;
  for (const caip::host::Gpu& gpu : fakes_.gpus) {
    ASSERT_EQ(Call("nvmlDeviceGetHandleByUUID", gpu.uuid.c_str(), &device), kNvmlDone) << gpu.uuid;
    EXPECT_EQ(GetText("nvmlDeviceGetUUID", device), gpu.uuid);
  }
  EXPECT_EQ(Get<unsigned>("nvmlDeviceIsMigDeviceHandle", device), 1u);
  EXPECT_EQ(Call("nvmlDeviceGetHandleByUUID", "GPU-other", &device), kNvmlNotFound);
  EXPECT_EQ(Call("nvmlDeviceGetHandleByUUID", "", &device), kNvmlNotFound);
  EXPECT_EQ(Call("nvmlDeviceGetHandleByUUID", nullptr, &device), kNvmlInvalidArgument);
}

TEST_F(FakeNvml, FindsGpusByEachFormOfTheirBusId) {
  Open("32xNVIDIA_TESLA_T4");
  for (const char* id : {"00000000:04:1F.0", "0000:04:1f.0", "04:1F.0", "4:1f"}) {
    Handle device = nullptr;
    ASSERT_EQ(Call("nvmlDeviceGetHandleByPciBusId_v2", id, &device), kNvmlDone) << id;
    EXPECT_EQ(device, Gpu(31)) << id;
    EXPECT_EQ(Call("nvmlDeviceGetHandleByPciBusId", id, &device), kNvmlDone) << id;
  }
  Handle device = nullptr;
  EXPECT_EQ(Call("nvmlDeviceGetHandleByPciBusId_v2", "0001:04:1f.0", &device), kNvmlNotFound);
  EXPECT_EQ(Call("nvmlDeviceGetHandleByPciBusId_v2", "0000:05:1f.0", &device), kNvmlNotFound);
  for (const char* id : {"", "04", "bus:04", "0000:04:1f.0 ", "04:1f.1", "1:2:3:4"}) {
    EXPECT_EQ(Call("nvmlDeviceGetHandleByPciBusId_v2", id, &device), kNvmlInvalidArgument) << id;
  }
}

TEST_F(FakeNvml, IsUsedByThreadsAtTheSameTime) {
  Open(kMixedFakes, false);
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (int& own : wrong) {
    threads.emplace_back([this, &own] {
      for (int i = 0; i < 50; ++i) {
        Handle device = nullptr;
        own += Call("nvmlInit_v2") != kNvmlDone;
        own += Call("nvmlDeviceGetHandleByUUID", fakes_.gpus[2].uuid.c_str(), &device) != kNvmlDone;
        own += Get<unsigned>("nvmlDeviceGetGpuInstanceId", device) != 3;
        own += Call("nvmlShutdown") != kNvmlDone;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
  EXPECT_EQ(Call("nvmlShutdown"), kNvmlUninitialized);
}

}  // namespace
}  // namespace caip::host
