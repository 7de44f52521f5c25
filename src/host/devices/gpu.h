#pragma once
// A GPU of this host, or a MIG instance of one: a part that CUDA treats as a GPU.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// The place of a MIG instance (NVIDIA's "MIG User Guide", section "Device Nodes and
/// Capabilities").
struct MigInstance {
  std::string parent_uuid;    // of its GPU, "GPU-..."
  int parent_index = 0;       // of its GPU, in the order of the driver
  int gpu_instance = -1;      // -1: not known
  int compute_instance = -1;  // in the GPU instance; -1: not known

  bool operator==(const MigInstance&) const = default;
};

struct Gpu {
  int index = 0;  // in the order of PCI bus ids; instances of one GPU as the driver lists them
  std::string uuid = {};  // "GPU-..." or "MIG-..."
  std::string name = {};  // "Tesla T4"
  std::string type = {};  // "NVIDIA_TESLA_T4" if the service has such a type, else ""
  int64_t memory_mib = 0;
  std::string pci_bus_id = {};
  std::vector<engine::DeviceNode> nodes = {};  // "/dev/nvidia0", those of a MIG instance
  std::optional<MigInstance> mig = {};         // nullopt: a whole GPU
};

/// The types that the service offers.
std::vector<std::string> ServiceGpuTypes();

/// "NVIDIA_TESLA_T4" for "Tesla T4"; "" for products that the service does not offer.
std::string ServiceGpuType(std::string_view product_name);

}  // namespace caip::host
