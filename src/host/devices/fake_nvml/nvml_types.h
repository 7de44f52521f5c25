#pragma once
// The part of NVML's interface that the library answers: names, numbers and layouts of NVIDIA's
// "NVML API Reference Guide".

#include <cstddef>

#include "host/devices/fake_nvml/gpu_files.h"

/// A function that programs find by its name. The rest of the library is hidden.
#define NVML_FUNCTION extern "C" __attribute__((visibility("default")))

namespace caip::host::fake_nvml {

enum Answer : int {
  kDone = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kVersionMismatch = 25,
};

/// Of programs: one that they made up is refused.
using Device = const Entry*;

struct PciInfo2 {  // nvmlPciInfo_v2_t, without its four reserved numbers
  char bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
};
struct PciInfo3 {  // nvmlPciInfo_t
  PciInfo2 earlier;
  char bus_id[32];
};
struct Memory1 {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct Temperature1 {
  unsigned version;
  int sensor;
  int temperature;
};
struct Attributes {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mb;
};

/// The number in structs with versions.
template <typename Struct>
constexpr unsigned VersionOf(unsigned version) {
  return static_cast<unsigned>(sizeof(Struct)) | version << 24;
}

/// The state between the first init and the last shutdown.
bool IsStarted();
const EntryList& Gpus();

/// kDone for a device of a program that has called init.
Answer CheckDevice(Device device);

/// The same for a GPU; kNotSupported for an instance.
Answer CheckGpu(Device device);

/// Gives a value to a program for any device.
template <typename Value>
Answer GiveOf(Device device, Value* target, Value value) {
  if (const Answer answer = CheckDevice(device); answer != kDone) return answer;
  if (!target) return kInvalidArgument;
  *target = value;
  return kDone;
}

/// Gives a value that instances do not have.
template <typename Value>
Answer GiveOfGpu(Device device, Value* target, Value value) {
  if (const Answer answer = CheckGpu(device); answer != kDone) return answer;
  return GiveOf(device, target, value);
}

/// Gives a text to a program that offers `size` bytes.
Answer GiveText(const char* text, char* target, unsigned size);

}  // namespace caip::host::fake_nvml
