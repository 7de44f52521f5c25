// What libcaip-nvml.so answers about each device, and what it refuses to answer.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <iterator>

#include "tests/host/fake_nvml_world.h"

namespace caip::host {
namespace {

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

}  // namespace
}  // namespace caip::host
