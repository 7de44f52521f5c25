#include "host/devices/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/devices/device_errors.h"

namespace caip::host {
namespace {

// The necessary declarations of nvml.h. Its ABI is stable.
using Device = struct NvmlDeviceBody*;
struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {  // nvmlPciInfo_t, as of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
constexpr int kSuccess = 0;
constexpr unsigned kTextBytes = 96;
constexpr unsigned kMigEnabled = 1;

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

template <typename Function>
bool Load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

struct Functions {
  int (*init)();
  int (*shutdown)();
  int (*count)(unsigned*);
  int (*handle)(unsigned, Device*);
  int (*name)(Device, char*, unsigned);
  int (*uuid)(Device, char*, unsigned);
  int (*memory)(Device, Memory*);
  int (*pci)(Device, PciInfo*);
  // Libraries before 450 lack these.
  int (*mig_mode)(Device, unsigned* current, unsigned* pending);
  int (*mig_count_max)(Device, unsigned*);
  int (*mig_handle)(Device, unsigned, Device*);
  int (*gpu_instance)(Device, unsigned*);
  int (*compute_instance)(Device, unsigned*);
  bool knows_mig;

  bool LoadAll(void* library) {
    knows_mig = Load(library, "nvmlDeviceGetMigMode", mig_mode) &&
                Load(library, "nvmlDeviceGetMaxMigDeviceCount", mig_count_max) &&
                Load(library, "nvmlDeviceGetMigDeviceHandleByIndex", mig_handle) &&
                Load(library, "nvmlDeviceGetGpuInstanceId", gpu_instance) &&
                Load(library, "nvmlDeviceGetComputeInstanceId", compute_instance);
    return Load(library, "nvmlInit_v2", init) && Load(library, "nvmlShutdown", shutdown) &&
           Load(library, "nvmlDeviceGetCount_v2", count) &&
           Load(library, "nvmlDeviceGetHandleByIndex_v2", handle) &&
           Load(library, "nvmlDeviceGetName", name) && Load(library, "nvmlDeviceGetUUID", uuid) &&
           Load(library, "nvmlDeviceGetMemoryInfo", memory) &&
           Load(library, "nvmlDeviceGetPciInfo_v3", pci);
  }
};

// Describes a GPU or a MIG instance. The UUID is empty if the device does not answer, for example
// after it fell off the bus.
Gpu Describe(const Functions& nvml, Device device) {
  Gpu gpu;
  char text[kTextBytes] = {};
  if (nvml.name(device, text, kTextBytes) == kSuccess) gpu.name = text;
  gpu.type = ServiceGpuType(gpu.name);
  Memory memory = {};
  if (nvml.memory(device, &memory) == kSuccess) {
    gpu.memory_mib = static_cast<int64_t>(memory.total >> 20);
  }
  PciInfo pci = {};
  if (nvml.pci(device, &pci) == kSuccess) gpu.pci_bus_id = pci.bus_id;
  if (nvml.uuid(device, text, kTextBytes) == kSuccess) gpu.uuid = text;
  return gpu;
}

bool IsInMigMode(const Functions& nvml, Device device) {
  unsigned current = 0;
  unsigned pending = 0;
  return nvml.knows_mig && nvml.mig_mode(device, &current, &pending) == kSuccess &&
         current == kMigEnabled;
}

int IdOr(int (*ask)(Device, unsigned*), Device device, int otherwise) {
  unsigned id = 0;
  return ask(device, &id) == kSuccess ? static_cast<int>(id) : otherwise;
}

// Numbers without an instance are not an error.
std::vector<Gpu> InstancesOf(const Functions& nvml, Device device, const Gpu& parent) {
  std::vector<Gpu> instances;
  unsigned count = 0;
  if (nvml.mig_count_max(device, &count) != kSuccess) return instances;
  for (unsigned i = 0; i < count; ++i) {
    Device instance = nullptr;
    if (nvml.mig_handle(device, i, &instance) != kSuccess) continue;
    Gpu gpu = Describe(nvml, instance);
    if (gpu.uuid.empty()) continue;
    if (gpu.name.empty()) {
      gpu.name = parent.name + " MIG";
      gpu.type = parent.type;
    }
    gpu.pci_bus_id = parent.pci_bus_id;
    gpu.mig = MigInstance{parent.uuid, parent.index, IdOr(nvml.gpu_instance, instance, -1),
                          IdOr(nvml.compute_instance, instance, -1)};
    instances.push_back(std::move(gpu));
  }
  return instances;
}

std::vector<Gpu> AskAll(const Functions& nvml) {
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (nvml.count(&count) != kSuccess) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (nvml.handle(i, &device) != kSuccess) continue;
    Gpu gpu = Describe(nvml, device);
    if (gpu.uuid.empty()) continue;
    gpu.index = static_cast<int>(i);
    if (!IsInMigMode(nvml, device)) {
      gpus.push_back(std::move(gpu));
      continue;
    }
    for (Gpu& instance : InstancesOf(nvml, device, gpu)) gpus.push_back(std::move(instance));
  }
  return gpus;
}

}  // namespace

Result<std::vector<Gpu>> AskNvml(const std::string& library_name) {
  const std::unique_ptr<void, CloseLibrary> library(
      ::dlopen(library_name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return errors::NvmlMissing(library_name);
  Functions nvml = {};
  if (!nvml.LoadAll(library.get())) return errors::NvmlIncomplete(library_name);
  if (const int code = nvml.init(); code != kSuccess) return errors::NvmlNotStarted(code);
  std::vector<Gpu> gpus = AskAll(nvml);
  nvml.shutdown();
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const Gpu& a, const Gpu& b) { return a.pci_bus_id < b.pci_bus_id; });
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i].index = static_cast<int>(i);
  return gpus;
}

}  // namespace caip::host
