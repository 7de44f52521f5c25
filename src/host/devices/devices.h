#pragma once
// The accelerators of this host.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

struct Gpu {
  int index = 0;          // in the order of PCI bus ids
  std::string uuid = {};  // "GPU-..." or "MIG-..."
  std::string name = {};  // "Tesla T4"
  std::string type = {};  // "NVIDIA_TESLA_T4" where the service has such a type, else ""
  int64_t memory_mib = 0;
  std::string pci_bus_id = {};
};

/// One chip of the TPU at hand.
struct TpuChip {
  int index = 0;
  std::string device;  // "/dev/accel0"
};

struct DeviceInventory {
  std::vector<Gpu> gpus;
  std::vector<TpuChip> tpu_chips;
  std::string gpu_source = "none";  // "NVML", "nvidia-smi", "/proc/driver/nvidia", "fake"
  bool gpus_are_fake = false;
};

/// "NVIDIA_TESLA_T4" for "Tesla T4"; "" for what the service does not offer.
std::string ServiceGpuType(std::string_view product_name);

/// "4xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_V100" as GPUs that do not exist, with well-formed UUIDs.
Result<std::vector<Gpu>> FakeGpus(std::string_view text);

/// The GPUs that this process's own CUDA_VISIBLE_DEVICES leaves: a scheduler that started caip may
/// have given it only some.
std::vector<Gpu> LimitToVisible(std::vector<Gpu> gpus, std::string_view visible);

/// Where to look for devices. Tests name other places.
struct DevicePlaces {
  std::string nvml = "libnvidia-ml.so.1";
  std::string path;  // $PATH, for nvidia-smi
  Path proc_nvidia = "/proc/driver/nvidia";
  Path dev = "/dev";
};

/// NVML, else nvidia-smi, else /proc/driver/nvidia, else none; and the TPU's device files. Takes
/// some 10 ms where there are GPUs, up to seconds where the driver sleeps, nothing where none are.
DeviceInventory ReadInventory(const DevicePlaces& places);

/// The inventory as jobs may see it: with `fakes` instead of real GPUs if there are any, else
/// limited by this process's CUDA_VISIBLE_DEVICES (nullopt: not set).
DeviceInventory InventoryFor(const DevicePlaces& places, std::vector<Gpu> fakes,
                             const std::optional<std::string>& visible);

/// `nvidia-smi --query-gpu=index,uuid,name,memory.total,pci.bus_id --format=csv,noheader,nounits`.
std::vector<Gpu> ParseNvidiaSmi(std::string_view csv);

}  // namespace caip::host
