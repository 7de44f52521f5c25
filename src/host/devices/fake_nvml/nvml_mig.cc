// MIG: the mode of GPUs, and their instances.

#include "host/devices/fake_nvml/nvml_types.h"

namespace caip::host::fake_nvml {
namespace {

constexpr unsigned kFirstMajorWithMig = 8;  // of compute capabilities
// Of an A100 with 40 GB ("MIG User Guide", section "Supported MIG Profiles"). Each slice has one
// engine for copies, and the whole GPU the only ones for JPEG and optical flow.
constexpr unsigned kMultiprocessorsOfSlice = 14;
constexpr unsigned kSlicesOfGpu = 7;

// Its video decoders go with the memory of an instance.
unsigned DecodersOf(unsigned memory_gb) {
  if (memory_gb >= 40) return 5;
  return memory_gb / 10;
}

bool IsInMigMode(Device gpu) { return gpu->instance_count > 0; }

Answer CheckInstance(Device device) {
  const Answer answer = CheckDevice(device);
  return answer == kDone && !device->parent ? kNotSupported : answer;
}

}  // namespace

NVML_FUNCTION Answer nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  if (const Answer answer = CheckGpu(device); answer != kDone) return answer;
  if (device->capability_major < kFirstMajorWithMig) return kNotSupported;
  if (!current || !pending) return kInvalidArgument;
  *current = *pending = IsInMigMode(device) ? 1 : 0;
  return kDone;
}

NVML_FUNCTION Answer nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  const Answer answer = CheckGpu(device);
  if (answer != kDone) return answer;
  const unsigned most = IsInMigMode(device) ? static_cast<unsigned>(kInstancesOfGpuMax) : 0;
  return GiveOf(device, count, most);
}

NVML_FUNCTION Answer nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index,
                                                         Device* instance) {
  if (const Answer answer = CheckGpu(device); answer != kDone) return answer;
  if (!instance || index >= kInstancesOfGpuMax) return kInvalidArgument;
  if (!IsInMigMode(device)) return kNotSupported;
  if (index >= device->instance_count) return kNotFound;
  *instance = device->instances[index];
  return kDone;
}

NVML_FUNCTION Answer nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device instance, Device* gpu) {
  if (const Answer answer = CheckDevice(instance); answer != kDone) return answer;
  if (!gpu || !instance->parent) return kInvalidArgument;
  *gpu = instance->parent;
  return kDone;
}

NVML_FUNCTION Answer nvmlDeviceIsMigDeviceHandle(Device device, unsigned* is_instance) {
  const Answer answer = CheckDevice(device);
  return answer == kDone ? GiveOf(device, is_instance, device->parent ? 1u : 0u) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetGpuInstanceId(Device device, unsigned* id) {
  const Answer answer = CheckInstance(device);
  return answer == kDone ? GiveOf(device, id, device->gpu_instance) : answer;
}

// A GPU instance has one compute instance.
NVML_FUNCTION Answer nvmlDeviceGetComputeInstanceId(Device device, unsigned* id) {
  const Answer answer = CheckInstance(device);
  return answer == kDone ? GiveOf(device, id, 0u) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetAttributes_v2(Device device, Attributes* attributes) {
  if (const Answer answer = CheckInstance(device); answer != kDone) return answer;
  const unsigned slices = device->slices;
  const unsigned engines = slices == kSlicesOfGpu ? 1 : 0;
  return GiveOf(
      device, attributes,
      {kMultiprocessorsOfSlice * slices, slices, DecodersOf(device->memory_gb), 0, engines, engines,
       slices, slices, static_cast<unsigned long long>(device->memory_mib)});
}

NVML_FUNCTION Answer nvmlDeviceGetAttributes(Device device, Attributes* attributes) {
  return nvmlDeviceGetAttributes_v2(device, attributes);
}

}  // namespace caip::host::fake_nvml
