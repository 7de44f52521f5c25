#pragma once
// The accelerators of this host.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
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
  bool tpu_is_fake = false;
  std::vector<engine::DeviceNode> gpu_control_nodes = {};  // each user of a GPU needs them
  std::vector<engine::DeviceNode> tpu_nodes = {};          // of all chips, with the control file
};

/// Devices that do not exist (fake_devices.h).
struct FakeDevices {
  std::vector<Gpu> gpus = {};
  std::vector<engine::DeviceNode> gpu_control_nodes = {};
  std::vector<TpuChip> tpu_chips = {};
  std::vector<engine::DeviceNode> tpu_nodes = {};
};

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

/// The inventory for jobs. Fake GPUs replace the real ones, as does a fake TPU. This process's
/// CUDA_VISIBLE_DEVICES limits real GPUs (nullopt: not set).
DeviceInventory InventoryFor(const DevicePlaces& places, FakeDevices fakes,
                             const std::optional<std::string>& visible);

/// Parses the output of `nvidia-smi --query-gpu=index,uuid,name,memory.total,pci.bus_id
/// --format=csv,noheader,nounits`.
std::vector<Gpu> ParseNvidiaSmi(std::string_view csv);

}  // namespace caip::host
