#include "host/devices/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <memory>

#include "host/errors.h"

namespace caip::host {
namespace {

// The few declarations of nvml.h that we use; its ABI is stable.
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

  bool LoadAll(void* library) {
    return Load(library, "nvmlInit_v2", init) && Load(library, "nvmlShutdown", shutdown) &&
           Load(library, "nvmlDeviceGetCount_v2", count) &&
           Load(library, "nvmlDeviceGetHandleByIndex_v2", handle) &&
           Load(library, "nvmlDeviceGetName", name) && Load(library, "nvmlDeviceGetUUID", uuid) &&
           Load(library, "nvmlDeviceGetMemoryInfo", memory) &&
           Load(library, "nvmlDeviceGetPciInfo_v3", pci);
  }
};

// nullopt-like: an empty UUID for a device that does not answer (fallen off the bus, say).
Gpu Describe(const Functions& nvml, unsigned index) {
  Gpu gpu;
  Device device = nullptr;
  char text[kTextBytes] = {};
  if (nvml.handle(index, &device) != kSuccess) return gpu;
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

}  // namespace

Result<std::vector<Gpu>> AskNvml(const std::string& library_name) {
  const std::unique_ptr<void, CloseLibrary> library(
      ::dlopen(library_name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return errors::NvmlMissing(library_name);
  Functions nvml = {};
  if (!nvml.LoadAll(library.get())) {
    return errors::NvmlIncomplete(library_name);
  }
  if (const int code = nvml.init(); code != kSuccess) {
    return errors::NvmlNotStarted(code);
  }
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (nvml.count(&count) != kSuccess) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    Gpu gpu = Describe(nvml, i);
    if (!gpu.uuid.empty()) gpus.push_back(std::move(gpu));
  }
  nvml.shutdown();
  std::sort(gpus.begin(), gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.pci_bus_id < b.pci_bus_id; });
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i].index = static_cast<int>(i);
  return gpus;
}

}  // namespace caip::host
