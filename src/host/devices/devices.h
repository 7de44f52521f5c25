#pragma once
// The accelerators of this host.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"
#include "host/devices/gpu.h"
#include "host/devices/gpu_driver.h"

namespace caip::host {

/// One chip of this host's TPU.
struct TpuChip {
  int index = 0;
  std::string device;  // "/dev/accel0"
};

struct DeviceInventory {
  std::vector<Gpu> gpus;
  std::vector<TpuChip> tpu_chips;
  std::string gpu_source = "none";  // "NVML", "nvidia-smi", "/proc/driver/nvidia", "fake"
  bool gpus_are_fake = false;
  std::vector<engine::DeviceNode> gpu_control_nodes = {};  // each user of a GPU needs them
  std::vector<std::string> tpu_nodes = {};                 // of all chips, with the control file
};

/// Parses "4xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_V100" into fake GPUs with well-formed UUIDs.
Result<std::vector<Gpu>> FakeGpus(std::string_view text);

/// The GPUs that this process's CUDA_VISIBLE_DEVICES allows. A scheduler that started caip may have
/// granted it only some of them. Numbers count GPUs and MIG instances in the inventory's order.
std::vector<Gpu> LimitToVisible(std::vector<Gpu> gpus, std::string_view visible);

/// The places of devices. Tests use other places.
struct DevicePlaces {
  std::string nvml = "libnvidia-ml.so.1";
  std::string path;  // $PATH, for nvidia-smi
  Path proc_nvidia = "/proc/driver/nvidia";
  Path dev = "/dev";
  DriverPlaces driver = {};
};

/// Reads the GPUs from NVML, else nvidia-smi, else /proc/driver/nvidia, and the TPU's device files.
/// Takes about 10 ms with GPUs, seconds if the driver sleeps, and almost no time without GPUs.
DeviceInventory ReadInventory(const DevicePlaces& places);

/// The inventory for jobs. `fakes`, if not empty, replace the real GPUs. Otherwise this process's
/// CUDA_VISIBLE_DEVICES limits them (nullopt: not set).
DeviceInventory InventoryFor(const DevicePlaces& places, std::vector<Gpu> fakes,
                             const std::optional<std::string>& visible);

/// Parses the output of `nvidia-smi --query-gpu=index,uuid,name,memory.total,pci.bus_id
/// --format=csv,noheader,nounits`.
std::vector<Gpu> ParseNvidiaSmi(std::string_view csv);

}  // namespace caip::host
