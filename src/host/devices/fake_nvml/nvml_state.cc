// The state of devices: no program computes on fake GPUs, so all are idle.

#include "host/devices/fake_nvml/nvml_types.h"

namespace caip::host::fake_nvml {
namespace {

constexpr int kSensorOfGpu = 0;
constexpr unsigned kIdleTemperature = 30;  // degrees Celsius
constexpr unsigned kIdlePartOfPower = 8;   // an idle GPU takes about an eighth of its limit
constexpr unsigned kMilliwatts = 1000;
constexpr int kIdlePerformanceState = 8;  // P8
constexpr unsigned kDisabled = 0;
constexpr unsigned kEnabled = 1;

unsigned PowerLimitOf(Device device) { return device->power_watts * kMilliwatts; }

unsigned long long MemoryOf(Device device) {
  return static_cast<unsigned long long>(device->memory_mib) << 20;
}

Answer GivePowerLimit(Device device, unsigned* limit) {
  const Answer answer = CheckGpu(device);
  return answer == kDone ? GiveOf(device, limit, PowerLimitOf(device)) : answer;
}

// The list is empty, whatever its place and its layout are.
Answer GiveNoProcesses(Device device, unsigned* count) { return GiveOf(device, count, 0u); }

}  // namespace

NVML_FUNCTION Answer nvmlDeviceGetMemoryInfo(Device device, Memory1* memory) {
  const Answer answer = CheckDevice(device);
  if (answer != kDone) return answer;
  const unsigned long long total = MemoryOf(device);
  return GiveOf(device, memory, {total, total, 0});
}

NVML_FUNCTION Answer nvmlDeviceGetMemoryInfo_v2(Device device, Memory2* memory) {
  const Answer answer = CheckDevice(device);
  if (answer != kDone) return answer;
  if (!memory) return kInvalidArgument;
  if (memory->version != VersionOf<Memory2>(2)) return kVersionMismatch;
  const unsigned long long total = MemoryOf(device);
  *memory = {memory->version, total, 0, total, 0};
  return kDone;
}

// NVML has none for a GPU in MIG mode.
NVML_FUNCTION Answer nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  const Answer answer = CheckGpu(device);
  if (answer != kDone) return answer;
  if (device->instance_count > 0) return kNotSupported;
  return GiveOf(device, utilization, {0, 0});
}

NVML_FUNCTION Answer nvmlDeviceGetTemperature(Device device, int sensor, unsigned* temperature) {
  if (const Answer answer = CheckGpu(device); answer != kDone) return answer;
  if (sensor != kSensorOfGpu) return kInvalidArgument;
  return GiveOf(device, temperature, kIdleTemperature);
}

NVML_FUNCTION Answer nvmlDeviceGetTemperatureV(Device device, Temperature1* temperature) {
  if (const Answer answer = CheckGpu(device); answer != kDone) return answer;
  if (!temperature) return kInvalidArgument;
  if (temperature->version != VersionOf<Temperature1>(1)) return kVersionMismatch;
  if (temperature->sensor != kSensorOfGpu) return kInvalidArgument;
  temperature->temperature = kIdleTemperature;
  return kDone;
}

NVML_FUNCTION Answer nvmlDeviceGetPowerUsage(Device device, unsigned* power) {
  const Answer answer = CheckGpu(device);
  return answer == kDone ? GiveOf(device, power, PowerLimitOf(device) / kIdlePartOfPower) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetPowerManagementMode(Device device, unsigned* mode) {
  return GiveOfGpu(device, mode, kEnabled);
}

NVML_FUNCTION Answer nvmlDeviceGetPowerManagementLimit(Device device, unsigned* limit) {
  return GivePowerLimit(device, limit);
}

NVML_FUNCTION Answer nvmlDeviceGetPowerManagementDefaultLimit(Device device, unsigned* limit) {
  return GivePowerLimit(device, limit);
}

NVML_FUNCTION Answer nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* limit) {
  return GivePowerLimit(device, limit);
}

NVML_FUNCTION Answer nvmlDeviceGetPerformanceState(Device device, int* state) {
  return GiveOfGpu(device, state, kIdlePerformanceState);
}

NVML_FUNCTION Answer nvmlDeviceGetPowerState(Device device, int* state) {
  return GiveOfGpu(device, state, kIdlePerformanceState);
}

NVML_FUNCTION Answer nvmlDeviceGetComputeMode(Device device, unsigned* mode) {
  return GiveOf(device, mode, kDisabled);  // NVML_COMPUTEMODE_DEFAULT
}

NVML_FUNCTION Answer nvmlDeviceGetPersistenceMode(Device device, unsigned* mode) {
  return GiveOfGpu(device, mode, kDisabled);
}

NVML_FUNCTION Answer nvmlDeviceGetDisplayMode(Device device, unsigned* mode) {
  return GiveOfGpu(device, mode, kDisabled);
}

NVML_FUNCTION Answer nvmlDeviceGetDisplayActive(Device device, unsigned* mode) {
  return GiveOfGpu(device, mode, kDisabled);
}

// Each version of the three lists has its own name.
#define NO_PROCESSES(name)                                                     \
  NVML_FUNCTION Answer name(Device device, unsigned* count, void* processes) { \
    static_cast<void>(processes);                                              \
    return GiveNoProcesses(device, count);                                     \
  }

NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

}  // namespace caip::host::fake_nvml
