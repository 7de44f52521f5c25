// Which devices exist, and what identifies them.

#include "host/devices/fake_nvml/bare_calls.h"
#include "host/devices/fake_nvml/nvml_types.h"

namespace caip::host::fake_nvml {
namespace {

constexpr int kBrandTesla = 2;
constexpr unsigned kVendor = 0x10de;  // NVIDIA, in the lower half of a PCI device ID

// The architecture of each first digit of a compute capability.
constexpr unsigned kArchitectureOf[] = {0, 0, 0, 2, 0, 3, 4, 5, 7};
constexpr unsigned kTuring = 6;  // is 7.5
constexpr unsigned kUnknownArchitecture = 0xffffffff;

struct BusAddress {
  unsigned domain, bus, device;
  bool operator==(const BusAddress&) const = default;
};

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Reads a number of base 16 and the character that ends it. False: there is no digit.
bool ReadPart(const char*& text, char& end, unsigned& value) {
  const char* const begin = text;
  value = 0;
  for (; DigitOf(*text) >= 0; ++text) value = value * 16 + static_cast<unsigned>(DigitOf(*text));
  const bool has_digit = text != begin;
  end = *text;
  if (end) ++text;
  return has_digit;
}

// Parses "00000000:04:1F.0", also with a shorter domain, without one, or without the function.
bool ParseBusId(const char* text, BusAddress& address) {
  unsigned parts[4] = {};
  size_t count = 0;
  char end = ':';
  while (end == ':' && count < 3) {
    if (!ReadPart(text, end, parts[count++])) return false;
  }
  if (count < 2) return false;
  address = {count == 3 ? parts[0] : 0, parts[count - 2], parts[count - 1]};
  if (end == 0) return true;
  unsigned function = 0;
  return end == '.' && ReadPart(text, end, function) && end == 0 && function == 0;
}

Answer GiveHandle(Device* target, Device device) {
  if (!device) return kNotFound;
  *target = device;
  return kDone;
}

// Some programs know only the form of older drivers, "0000:04:00.0".
PciInfo2 PciInfoOf(const Entry& gpu) {
  PciInfo2 info = {};
  BusAddress address = {};
  ParseBusId(gpu.bus_id, address);
  const size_t length = LengthOf(gpu.bus_id);
  const size_t left_out = length > 12 ? length - 12 : 0;
  CopyText(gpu.bus_id + left_out, info.bus_id, sizeof info.bus_id);
  info.domain = address.domain;
  info.bus = address.bus;
  info.device = address.device;
  info.device_id = kVendor;
  return info;
}

unsigned ArchitectureOf(const Entry& gpu) {
  if (gpu.capability_major >= sizeof kArchitectureOf / sizeof kArchitectureOf[0]) {
    return kUnknownArchitecture;
  }
  if (gpu.capability_major == 7 && gpu.capability_minor == 5) return kTuring;
  return kArchitectureOf[gpu.capability_major];
}

const Entry& GpuOf(Device device) { return device->parent ? *device->parent : *device; }

}  // namespace

NVML_FUNCTION Answer nvmlDeviceGetCount_v2(unsigned* count) {
  if (!IsStarted()) return kUninitialized;
  if (!count) return kInvalidArgument;
  *count = static_cast<unsigned>(Gpus().gpu_count);
  return kDone;
}

NVML_FUNCTION Answer nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

NVML_FUNCTION Answer nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (!IsStarted()) return kUninitialized;
  if (!device || index >= Gpus().gpu_count) return kInvalidArgument;
  return GiveHandle(device, Gpus().gpus[index]);
}

NVML_FUNCTION Answer nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

NVML_FUNCTION Answer nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  if (!IsStarted()) return kUninitialized;
  if (!uuid || !device) return kInvalidArgument;
  Device found = nullptr;
  for (size_t i = 0; i < Gpus().gpu_count; ++i) {
    const Entry& gpu = *Gpus().gpus[i];
    if (IsSame(gpu.uuid, uuid)) found = &gpu;
    for (size_t j = 0; j < gpu.instance_count; ++j) {
      if (IsSame(gpu.instances[j]->uuid, uuid)) found = gpu.instances[j];
    }
  }
  return GiveHandle(device, found);
}

NVML_FUNCTION Answer nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  if (!IsStarted()) return kUninitialized;
  BusAddress wanted = {};
  if (!bus_id || !device || !ParseBusId(bus_id, wanted)) return kInvalidArgument;
  Device found = nullptr;
  for (size_t i = 0; i < Gpus().gpu_count; ++i) {
    BusAddress address = {};
    if (ParseBusId(Gpus().gpus[i]->bus_id, address) && address == wanted) found = Gpus().gpus[i];
  }
  return GiveHandle(device, found);
}

NVML_FUNCTION Answer nvmlDeviceGetHandleByPciBusId(const char* bus_id, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

NVML_FUNCTION Answer nvmlDeviceGetName(Device device, char* name, unsigned size) {
  const Answer answer = CheckDevice(device);
  return answer == kDone ? GiveText(device->name, name, size) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetUUID(Device device, char* uuid, unsigned size) {
  const Answer answer = CheckDevice(device);
  return answer == kDone ? GiveText(device->uuid, uuid, size) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetIndex(Device device, unsigned* index) {
  const Answer answer = CheckDevice(device);
  return answer == kDone ? GiveOf(device, index, device->index) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetMinorNumber(Device device, unsigned* minor) {
  const Answer answer = CheckGpu(device);
  return answer == kDone ? GiveOf(device, minor, device->minor) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetBrand(Device device, int* brand) {
  return GiveOf(device, brand, kBrandTesla);
}

NVML_FUNCTION Answer nvmlDeviceGetArchitecture(Device device, unsigned* architecture) {
  const Answer answer = CheckDevice(device);
  return answer == kDone ? GiveOf(device, architecture, ArchitectureOf(GpuOf(device))) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  const Answer answer = CheckDevice(device);
  if (answer != kDone) return answer;
  if (!major || !minor) return kInvalidArgument;
  *major = static_cast<int>(GpuOf(device).capability_major);
  *minor = static_cast<int>(GpuOf(device).capability_minor);
  return kDone;
}

NVML_FUNCTION Answer nvmlDeviceGetPciInfo_v2(Device device, PciInfo2* info) {
  const Answer answer = CheckDevice(device);
  return answer == kDone ? GiveOf(device, info, PciInfoOf(GpuOf(device))) : answer;
}

NVML_FUNCTION Answer nvmlDeviceGetPciInfo(Device device, PciInfo2* info) {
  return nvmlDeviceGetPciInfo_v2(device, info);
}

NVML_FUNCTION Answer nvmlDeviceGetPciInfo_v3(Device device, PciInfo3* info) {
  const Answer answer = nvmlDeviceGetPciInfo_v2(device, info ? &info->earlier : nullptr);
  if (answer != kDone) return answer;
  return CopyText(GpuOf(device).bus_id, info->bus_id, sizeof info->bus_id) ? kDone
                                                                           : kInsufficientSize;
}

}  // namespace caip::host::fake_nvml
