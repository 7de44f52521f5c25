// libcaip-nvml.so, the `libnvidia-ml.so.1` of replicas with fake GPUs. It is loaded as programs
// load it, from a directory that has the files of a replica's GPUs.

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>

#include "host/devices/fake_devices.h"
#include "host/devices/nvml.h"
#include "host/devices/smi/smi_answers.h"

namespace caip::host {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

// Answers, as nvml.h numbers them.
constexpr int kNvmlDone = 0;
constexpr int kNvmlUninitialized = 1;
constexpr int kNvmlInvalidArgument = 2;
constexpr int kNvmlNotSupported = 3;
constexpr int kNvmlNotFound = 6;
constexpr int kNvmlInsufficientSize = 7;
constexpr int kNvmlDriverNotLoaded = 9;
constexpr int kNvmlVersionMismatch = 25;

constexpr char kMixedFakes[] = "1xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:1x2g.10gb+1x3g.20gb";

// Laid out as nvml.h lays them out.
struct MemoryOfNvml {
  unsigned long long total, free, used;
};
struct MemoryOfNvml2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct UtilizationOfNvml {
  unsigned gpu, memory;
};
struct TemperatureOfNvml {
  unsigned version;
  int sensor, temperature;
};
struct PciOfNvml {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct AttributesOfNvml {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mb;
};

class FakeNvml : public ::testing::Test {
 protected:
  using Handle = void*;

  ~FakeNvml() override {
    if (library_) ::dlclose(library_);
  }

  /// Loads the library of a replica that was lent these GPUs, and starts it.
  void Open(const char* gpus, bool starts = true) {
    fakes_ = *MakeFakeDevices(gpus, "");
    const Path directory = root_.path() / "own";
    ASSERT_TRUE(MakeDirectories(directory).ok());
    ASSERT_TRUE(GiveGpuTools({"/program", "/library"}, directory, fakes_).ok());
    path_ = directory / smi::kLibrary;
    std::filesystem::copy_file(CAIP_NVML, path_);
    library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    if (!starts) return;
    ASSERT_EQ(Call("nvmlInit_v2"), kNvmlDone);
  }

  template <typename... Arguments>
  int Call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library_, name));
    if (function) return function(arguments...);
    ADD_FAILURE() << name << " is missing";
    return -1;
  }

  template <typename Value>
  Value Get(const char* name, Handle device) {
    Value value = {};
    EXPECT_EQ(Call(name, device, &value), kNvmlDone) << name;
    return value;
  }

  std::string GetText(const char* name, Handle device) {
    char text[96] = {};
    EXPECT_EQ(Call(name, device, static_cast<char*>(text), 96u), kNvmlDone) << name;
    return text;
  }

  Handle Gpu(unsigned index) {
    Handle device = nullptr;
    EXPECT_EQ(Call("nvmlDeviceGetHandleByIndex_v2", index, &device), kNvmlDone) << index;
    return device;
  }

  Handle InstanceOf(Handle gpu, unsigned index) {
    Handle device = nullptr;
    EXPECT_EQ(Call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, index, &device), kNvmlDone);
    return device;
  }

  /// The GPUs as `nvidia-smi -L` lists them.
  std::string ListByNvml() {
    unsigned count = 0;
    EXPECT_EQ(Call("nvmlDeviceGetCount_v2", &count), kNvmlDone);
    std::vector<smi::SmiGpu> gpus;
    for (unsigned i = 0; i < count; ++i) {
      const Handle gpu = Gpu(i);
      smi::SmiGpu listed{0, GetText("nvmlDeviceGetUUID", gpu), GetText("nvmlDeviceGetName", gpu), 0,
                         ""};
      for (unsigned j = 0; j < Get<unsigned>("nvmlDeviceGetMaxMigDeviceCount", gpu); ++j) {
        Handle instance = nullptr;
        if (Call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, j, &instance) != kNvmlDone) break;
        const std::string name = GetText("nvmlDeviceGetName", instance);
        listed.instances.push_back(
            {name.substr(name.rfind(' ') + 1), GetText("nvmlDeviceGetUUID", instance)});
      }
      gpus.push_back(std::move(listed));
    }
    return smi::AnswerSmi({"-L"}, gpus).out;
  }

  std::string ListBySmi() const {
    std::vector<smi::SmiGpu> files;
    for (const caip::host::Gpu& gpu : fakes_.gpus) {
      const auto text = ReadFile(gpu.nodes.back().file);
      if (text.ok()) files.push_back(*smi::ParseSmiGpu(*text));
    }
    return smi::AnswerSmi({"-L"}, smi::MergeSmiGpus(files)).out;
  }

  TemporaryDirectory root_{"caip-nvml-"};
  FakeDevices fakes_;
  Path path_;
  void* library_ = nullptr;
};

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

TEST_F(FakeNvml, HasFactsOfEachType) {
  Open(
      "1xNVIDIA_TESLA_K80,1xNVIDIA_TESLA_P4,1xNVIDIA_TESLA_P100,1xNVIDIA_TESLA_V100,"
      "1xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100");
  const struct {
    int major, minor;
    unsigned architecture, watts;
  } rows[] = {{3, 7, 2, 149}, {6, 1, 4, 75}, {6, 0, 4, 250},
              {7, 0, 5, 300}, {7, 5, 6, 70}, {8, 0, 7, 400}};
  for (unsigned i = 0; i < std::size(rows); ++i) {
    int major = 0;
    int minor = 0;
    EXPECT_EQ(Call("nvmlDeviceGetCudaComputeCapability", Gpu(i), &major, &minor), kNvmlDone);
    EXPECT_EQ(major, rows[i].major) << i;
    EXPECT_EQ(minor, rows[i].minor) << i;
    EXPECT_EQ(Get<unsigned>("nvmlDeviceGetArchitecture", Gpu(i)), rows[i].architecture) << i;
    for (const char* limit :
         {"nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetEnforcedPowerLimit",
          "nvmlDeviceGetPowerManagementDefaultLimit"}) {
      EXPECT_EQ(Get<unsigned>(limit, Gpu(i)), rows[i].watts * 1000) << i;
    }
    EXPECT_EQ(Get<int>("nvmlDeviceGetBrand", Gpu(i)), 2) << i;
  }
}

TEST_F(FakeNvml, HasPciFacts) {
  Open("33xNVIDIA_TESLA_T4");
  PciOfNvml info = {};
  ASSERT_EQ(Call("nvmlDeviceGetPciInfo_v3", Gpu(32), &info), kNvmlDone);
  EXPECT_STREQ(info.bus_id, "00000000:05:00.0");
  EXPECT_STREQ(info.legacy, "0000:05:00.0");
  EXPECT_EQ(info.domain, 0u);
  EXPECT_EQ(info.bus, 5u);
  EXPECT_EQ(info.device, 0u);
  EXPECT_EQ(info.device_id & 0xffff, 0x10deu);
  for (const char* name : {"nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2"}) {
    PciOfNvml earlier = {};
    EXPECT_EQ(Call(name, Gpu(31), &earlier), kNvmlDone);
    EXPECT_STREQ(earlier.legacy, "0000:04:1F.0");
    EXPECT_STREQ(earlier.bus_id, "") << "the earlier struct does not have it";
    EXPECT_EQ(Call(name, Gpu(31), nullptr), kNvmlInvalidArgument);
  }
  EXPECT_EQ(Call("nvmlDeviceGetPciInfo_v3", Gpu(0), nullptr), kNvmlInvalidArgument);
}

TEST_F(FakeNvml, HasIdleGpus) {
  Open("1xNVIDIA_TESLA_T4");
  const Handle gpu = Gpu(0);
  const auto memory = Get<MemoryOfNvml>("nvmlDeviceGetMemoryInfo", gpu);
  EXPECT_EQ(memory.total, 15360ull << 20);
  EXPECT_EQ(memory.free, memory.total);
  EXPECT_EQ(memory.used, 0u);
  MemoryOfNvml2 later = {0x02000028, 1, 1, 1, 1};
  EXPECT_EQ(Call("nvmlDeviceGetMemoryInfo_v2", gpu, &later), kNvmlDone);
  EXPECT_EQ(later.total, memory.total);
  EXPECT_EQ(later.free + later.reserved + later.used, memory.total);
  later.version = 0x03000028;
  EXPECT_EQ(Call("nvmlDeviceGetMemoryInfo_v2", gpu, &later), kNvmlVersionMismatch);
  UtilizationOfNvml utilization = {9, 9};
  EXPECT_EQ(Call("nvmlDeviceGetUtilizationRates", gpu, &utilization), kNvmlDone);
  EXPECT_EQ(utilization.gpu + utilization.memory, 0u);
  unsigned degrees = 0;
  EXPECT_EQ(Call("nvmlDeviceGetTemperature", gpu, 0, &degrees), kNvmlDone);
  EXPECT_EQ(degrees, 30u);
  EXPECT_EQ(Call("nvmlDeviceGetTemperature", gpu, 1, &degrees), kNvmlInvalidArgument);
  TemperatureOfNvml temperature = {0x100000c, 0, 0};
  EXPECT_EQ(Call("nvmlDeviceGetTemperatureV", gpu, &temperature), kNvmlDone);
  EXPECT_EQ(temperature.temperature, 30);
  temperature.version = 1;
  EXPECT_EQ(Call("nvmlDeviceGetTemperatureV", gpu, &temperature), kNvmlVersionMismatch);
  EXPECT_EQ(Get<unsigned>("nvmlDeviceGetPowerUsage", gpu), 8750u);
  EXPECT_EQ(Get<unsigned>("nvmlDeviceGetPowerManagementMode", gpu), 1u);
  EXPECT_EQ(Get<int>("nvmlDeviceGetPerformanceState", gpu), 8);
  for (const char* name : {"nvmlDeviceGetComputeMode", "nvmlDeviceGetPersistenceMode",
                           "nvmlDeviceGetDisplayMode", "nvmlDeviceGetDisplayActive"}) {
    unsigned mode = 7;
    EXPECT_EQ(Call(name, gpu, &mode), kNvmlDone) << name;
    EXPECT_EQ(mode, 0u) << name;
  }
}

TEST_F(FakeNvml, HasNoProcesses) {
  Open(kMixedFakes);
  for (const std::string kind : {"Compute", "Graphics", "MPSCompute"}) {
    for (const char* version : {"", "_v2", "_v3"}) {
      const std::string name = "nvmlDeviceGet" + kind + "RunningProcesses" + version;
      unsigned count = 5;
      EXPECT_EQ(Call(name.c_str(), Gpu(0), &count, nullptr), kNvmlDone) << name;
      EXPECT_EQ(count, 0u) << name;
      EXPECT_EQ(Call(name.c_str(), Gpu(0), nullptr, nullptr), kNvmlInvalidArgument) << name;
    }
  }
}

TEST_F(FakeNvml, SplitsGpusInMigModeIntoInstances) {
  Open("1xNVIDIA_TESLA_A100:1x4g.20gb+1x2g.10gb+1x1g.5gb,1xNVIDIA_TESLA_A100");
  unsigned current = 7;
  unsigned pending = 7;
  EXPECT_EQ(Call("nvmlDeviceGetMigMode", Gpu(0), &current, &pending), kNvmlDone);
  EXPECT_EQ(current + pending, 2u);
  EXPECT_EQ(Get<unsigned>("nvmlDeviceGetMaxMigDeviceCount", Gpu(0)), 7u);
  const struct {
    unsigned slices, multiprocessors, decoders, gpu_instance, memory;
  } rows[] = {{4, 56, 2, 1, 20096}, {2, 28, 1, 3, 9984}, {1, 14, 0, 7, 4864}};
  for (unsigned i = 0; i < std::size(rows); ++i) {
    const Handle instance = InstanceOf(Gpu(0), i);
    const auto attributes = Get<AttributesOfNvml>("nvmlDeviceGetAttributes_v2", instance);
    EXPECT_EQ(attributes.gpu_slices, rows[i].slices);
    EXPECT_EQ(attributes.compute_slices, rows[i].slices);
    EXPECT_EQ(attributes.copy_engines, rows[i].slices);
    EXPECT_EQ(attributes.multiprocessors, rows[i].multiprocessors);
    EXPECT_EQ(attributes.decoders, rows[i].decoders);
    EXPECT_EQ(attributes.memory_mb, rows[i].memory);
    EXPECT_EQ(Get<MemoryOfNvml>("nvmlDeviceGetMemoryInfo", instance).total >> 20, rows[i].memory);
    EXPECT_EQ(Get<unsigned>("nvmlDeviceGetGpuInstanceId", instance), rows[i].gpu_instance);
    EXPECT_EQ(Get<unsigned>("nvmlDeviceGetComputeInstanceId", instance), 0u);
    EXPECT_EQ(Get<unsigned>("nvmlDeviceGetIndex", instance), i);
    EXPECT_EQ(Get<unsigned>("nvmlDeviceIsMigDeviceHandle", instance), 1u);
    EXPECT_EQ(Get<Handle>("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", instance), Gpu(0));
    EXPECT_EQ(Get<PciOfNvml>("nvmlDeviceGetPciInfo_v3", instance).device, 0u);
  }
  Handle other = nullptr;
  EXPECT_EQ(Call("nvmlDeviceGetMigDeviceHandleByIndex", Gpu(0), 3u, &other), kNvmlNotFound);
  EXPECT_EQ(Call("nvmlDeviceGetMigDeviceHandleByIndex", Gpu(0), 7u, &other), kNvmlInvalidArgument);
  UtilizationOfNvml utilization = {};
  EXPECT_EQ(Call("nvmlDeviceGetUtilizationRates", Gpu(0), &utilization), kNvmlNotSupported);
}

TEST_F(FakeNvml, AnswersForGpusWithoutMig) {
  Open("1xNVIDIA_TESLA_A100,1xNVIDIA_TESLA_T4");
  unsigned current = 7;
  unsigned pending = 7;
  EXPECT_EQ(Call("nvmlDeviceGetMigMode", Gpu(0), &current, &pending), kNvmlDone);
  EXPECT_EQ(current + pending, 0u);
  EXPECT_EQ(Call("nvmlDeviceGetMigMode", Gpu(1), &current, &pending), kNvmlNotSupported);
  for (const unsigned i : {0u, 1u}) {
    Handle other = nullptr;
    unsigned id = 0;
    EXPECT_EQ(Get<unsigned>("nvmlDeviceGetMaxMigDeviceCount", Gpu(i)), 0u);
    EXPECT_EQ(Get<unsigned>("nvmlDeviceIsMigDeviceHandle", Gpu(i)), 0u);
    EXPECT_EQ(Call("nvmlDeviceGetMigDeviceHandleByIndex", Gpu(i), 0u, &other), kNvmlNotSupported);
    EXPECT_EQ(Call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", Gpu(i), &other),
              kNvmlInvalidArgument);
    EXPECT_EQ(Call("nvmlDeviceGetGpuInstanceId", Gpu(i), &id), kNvmlNotSupported);
    EXPECT_EQ(Call("nvmlDeviceGetComputeInstanceId", Gpu(i), &id), kNvmlNotSupported);
  }
}

TEST_F(FakeNvml, DoesNotAnswerForInstancesWhatOnlyGpusHave) {
  Open(kMixedFakes);
  const Handle instance = InstanceOf(Gpu(1), 0);
  unsigned number = 0;
  for (const char* name : {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetMinorNumber",
                           "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetPersistenceMode"}) {
    EXPECT_EQ(Call(name, instance, &number), kNvmlNotSupported) << name;
  }
}

TEST_F(FakeNvml, RefusesDevicesAndPlacesThatAreNotValid) {
  Open(kMixedFakes);
  Handle device = nullptr;
  EXPECT_EQ(Call("nvmlDeviceGetHandleByIndex_v2", 2u, &device), kNvmlInvalidArgument);
  EXPECT_EQ(Call("nvmlDeviceGetHandleByIndex", 0u, nullptr), kNvmlInvalidArgument);
  EXPECT_EQ(Call("nvmlDeviceGetCount_v2", nullptr), kNvmlInvalidArgument);
  unsigned number = 0;
  const Handle strange[] = {nullptr, &number, static_cast<char*>(Gpu(0)) + 1};
  for (const Handle other : strange) {
    EXPECT_EQ(Call("nvmlDeviceGetIndex", other, &number), kNvmlInvalidArgument);
    EXPECT_EQ(Call("nvmlDeviceGetSerial", other, &number, 4u), kNvmlInvalidArgument);
  }
  char text[16] = {};
  EXPECT_EQ(Call("nvmlDeviceGetUUID", Gpu(0), static_cast<char*>(text), 16u),
            kNvmlInsufficientSize);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(Call("nvmlDeviceGetName", Gpu(0), nullptr, 96u), kNvmlInvalidArgument);
  EXPECT_EQ(Call("nvmlDeviceGetMemoryInfo", Gpu(0), nullptr), kNvmlInvalidArgument);
}

TEST_F(FakeNvml, SaysWhatItDoesNotSupport) {
  Open(kMixedFakes);
  for (const char* name :
       {"nvmlDeviceGetSerial", "nvmlDeviceGetFanSpeed", "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetEccMode", "nvmlDeviceGetPcieThroughput", "nvmlDeviceGetNvLinkState"}) {
    unsigned number = 0;
    EXPECT_EQ(Call(name, Gpu(0), 0u, &number), kNvmlNotSupported) << name;
  }
  EXPECT_EQ(::dlsym(library_, "nvmlDeviceSetMigMode"), nullptr);
}

/// The dynamic part of an ELF file.
struct ElfFacts {
  std::vector<std::string> undefined, functions;
  std::vector<uint32_t> segments;
  int needed = 0;
};

template <typename Struct>
std::vector<Struct> ReadStructs(const std::string& bytes, size_t offset, size_t count) {
  std::vector<Struct> structs(count);
  if (offset + count * sizeof(Struct) > bytes.size()) return {};
  std::memcpy(structs.data(), bytes.data() + offset, count * sizeof(Struct));
  return structs;
}

ElfFacts ReadElf(const std::string& bytes) {
  ElfFacts facts;
  const auto header = ReadStructs<Elf64_Ehdr>(bytes, 0, 1).at(0);
  for (const auto& segment : ReadStructs<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum)) {
    facts.segments.push_back(segment.p_type);
  }
  const auto sections = ReadStructs<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNAMIC) {
      for (const auto& entry :
           ReadStructs<Elf64_Dyn>(bytes, section.sh_offset, section.sh_size / sizeof(Elf64_Dyn))) {
        facts.needed += entry.d_tag == DT_NEEDED;
      }
    }
    if (section.sh_type != SHT_DYNSYM) continue;
    const char* names = bytes.data() + sections.at(section.sh_link).sh_offset;
    for (const auto& symbol :
         ReadStructs<Elf64_Sym>(bytes, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_name == 0) continue;
      auto& list = symbol.st_shndx == SHN_UNDEF ? facts.undefined : facts.functions;
      list.emplace_back(names + symbol.st_name);
    }
  }
  return facts;
}

// A library that needs another one does not load in an image with another C library, or without.
TEST_F(FakeNvml, NeedsNoOtherLibrary) {
  const auto bytes = ReadFile(CAIP_NVML);
  ASSERT_TRUE(bytes.ok());
  const ElfFacts facts = ReadElf(*bytes);
  EXPECT_EQ(facts.needed, 0);
  EXPECT_THAT(facts.undefined, IsEmpty());
  EXPECT_THAT(facts.functions, ::testing::Each(StartsWith("nvml")));
  EXPECT_GT(facts.functions.size(), 80u);
  EXPECT_THAT(facts.segments, ::testing::Not(::testing::Contains(PT_TLS)));
}

TEST_F(FakeNvml, AnswersNothingBeforeItIsStarted) {
  Open(kMixedFakes, false);
  const auto bytes = ReadFile(CAIP_NVML);
  ASSERT_TRUE(bytes.ok());
  std::vector<std::string> answered;
  for (const std::string& name : ReadElf(*bytes).functions) {
    if (name.starts_with("nvmlInit") || name == "nvmlErrorString") continue;
    char place[256] = {};
    const int answer =
        name.starts_with("nvmlDeviceGetHandle") || name.starts_with("nvmlSystem")
            ? Call(name.c_str(), static_cast<char*>(place), static_cast<char*>(place))
            : Call(name.c_str(), Handle{}, static_cast<char*>(place), static_cast<char*>(place));
    if (answer != kNvmlUninitialized) answered.push_back(name);
  }
  EXPECT_THAT(answered, IsEmpty());
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
