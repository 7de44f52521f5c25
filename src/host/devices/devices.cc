#include "host/devices/devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "host/errors.h"
#include "host/process/child_process.h"

namespace caip::host {
namespace {

// NVIDIA's management library, loaded at run time: caip works without it and does not link it.

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

// Describes a device. The UUID is empty if the device does not answer, for example after it fell
// off the bus.
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

// The GPUs that a library (a name for dlopen) reports, by PCI bus ID. kNotFound: the library does
// not exist. kUnavailable: it or the driver does not work.
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

}  // namespace

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kNvidiaSmiTimeout{10};
constexpr int64_t kFakeGpusMax = 1024;
constexpr char kNoDevice[] = "/dev/null";  // stands for the device of a fake GPU
constexpr size_t kShortBusIdLength = 12;

std::optional<int64_t> Number(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// The memory of the service's GPUs, for programs that query fake GPUs.
int64_t MemoryMib(std::string_view type) {
  if (type.ends_with("K80")) return 11441;
  if (type.ends_with("P4")) return 7611;
  if (type.ends_with("A100")) return 40960;
  return type.ends_with("T4") ? 15360 : 16160;
}

Gpu FakeGpu(int index, const std::string& type) {
  char uuid[64];
  std::snprintf(uuid, sizeof uuid, "GPU-ca1bfa4e-0000-4000-8000-%012x", index);
  char bus[32];
  std::snprintf(bus, sizeof bus, "00000000:%02X:%02X.0", 4 + index / 32, index % 32);
  return {index,
          uuid,
          "fake " + type,
          type,
          MemoryMib(type),
          bus,
          {{kNoDevice, "/dev/nvidia" + std::to_string(index)}}};
}

// The files of NVIDIA's driver that each user of a GPU opens.
constexpr const char* kGpuControls[] = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                        "nvidia-modeset", "nvidia-caps"};

std::vector<engine::DeviceNode> FindControlNodes(const Path& dev) {
  std::vector<engine::DeviceNode> nodes;
  for (const char* name : kGpuControls) {
    std::error_code error;
    if (fs::exists(dev / name, error)) nodes.push_back({dev / name, dev / name});
  }
  return nodes;
}

// "0000:00:04.0" for the "00000000:00:04.0" of NVML.
std::string ShortBusId(std::string bus_id) {
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return bus_id.size() > kShortBusIdLength ? bus_id.substr(bus_id.size() - kShortBusIdLength)
                                           : bus_id;
}

// The number of a GPU's file in /dev, which the driver names in ".../information"; its index, if
// the driver does not.
std::string MinorOf(const Gpu& gpu, const Path& proc_nvidia) {
  const Path information = proc_nvidia / "gpus" / ShortBusId(gpu.pci_bus_id) / "information";
  const auto text = ReadFileUpTo(information, 64 << 10);
  for (const std::string& line : Split(text.ok() ? *text : "", '\n')) {
    if (!line.starts_with("Device Minor:")) continue;
    return std::string(Trim(std::string_view(line).substr(line.find(':') + 1)));
  }
  return std::to_string(gpu.index);
}

void AddNodes(const DevicePlaces& places, DeviceInventory& inventory) {
  const auto described = inventory.gpus.empty() ? GpuDriver{} : ReadGpuDriver(places.driver);
  for (Gpu& gpu : inventory.gpus) {
    if (const auto found = described.nodes.find(gpu.uuid); found != described.nodes.end()) {
      gpu.nodes = found->second;
      continue;
    }
    const std::string node = places.dev / ("nvidia" + MinorOf(gpu, places.proc_nvidia));
    gpu.nodes = {{node, node}};
  }
  if (!inventory.gpus.empty()) inventory.gpu_control_nodes = FindControlNodes(places.dev);
  for (const TpuChip& chip : inventory.tpu_chips) inventory.tpu_nodes.push_back(chip.device);
  std::error_code error;
  const Path control = places.dev / "vfio/vfio";
  if (!inventory.tpu_chips.empty() && fs::exists(control, error)) {
    inventory.tpu_nodes.push_back(control);
  }
}

std::vector<std::string> AcceleratorTypes() {
  return {"NVIDIA_TESLA_K80",  "NVIDIA_TESLA_P4", "NVIDIA_TESLA_P100",
          "NVIDIA_TESLA_V100", "NVIDIA_TESLA_T4", "NVIDIA_TESLA_A100"};
}

// Parses "4xNVIDIA_TESLA_T4".
Status AddFakes(std::string_view text, std::string_view part, std::vector<std::string>& types) {
  const std::string_view entry = Trim(part);
  const size_t x = entry.find('x');
  const auto count = x == std::string_view::npos ? std::nullopt : Number(entry.substr(0, x));
  if (!count || *count < 1) {
    return errors::FakeGpusMalformed(text, "'" + std::string(entry) + "' has no count");
  }
  const std::string type(entry.substr(x + 1));
  const std::vector<std::string> known = AcceleratorTypes();
  if (std::find(known.begin(), known.end(), type) == known.end()) {
    return errors::FakeGpusMalformed(
        text, "'" + type + "' is not a GPU type of the service (" + Join(known, ", ") + ")");
  }
  if (static_cast<int64_t>(types.size()) + *count > kFakeGpusMax) {
    return errors::FakeGpusMalformed(text, "more than " + std::to_string(kFakeGpusMax));
  }
  types.insert(types.end(), static_cast<size_t>(*count), type);
  return Ok{};
}

std::vector<Gpu> AskNvidiaSmi(const DevicePlaces& places) {
  const auto said =
      CaptureTool({.argv = {"nvidia-smi", "--query-gpu=index,uuid,name,memory.total,pci.bus_id",
                            "--format=csv,noheader,nounits"},
                   .environment = {{"PATH", places.path}, {"LC_ALL", "C"}},
                   .timeout = kNvidiaSmiTimeout});
  if (!said.ok() || !said->result.ok()) return {};
  return ParseNvidiaSmi(said->out);
}

// Reads files such as gpus/0000:00:04.0/information: "Model: \t\t Tesla T4", "GPU UUID: \t
// GPU-...".
std::vector<Gpu> ReadProc(const Path& proc_nvidia) {
  std::vector<Path> directories;
  std::error_code error;
  for (fs::directory_iterator it(proc_nvidia / "gpus", error), end; it != end;
       it.increment(error)) {
    directories.push_back(it->path());
  }
  std::sort(directories.begin(), directories.end());
  std::vector<Gpu> gpus;
  for (const Path& directory : directories) {
    const auto text = ReadFileUpTo(directory / "information", 64 << 10);
    if (!text.ok()) continue;
    Gpu gpu;
    gpu.index = static_cast<int>(gpus.size());
    gpu.pci_bus_id = directory.filename();
    for (const std::string& line : Split(*text, '\n')) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string value(Trim(std::string_view(line).substr(colon + 1)));
      if (line.starts_with("Model")) gpu.name = value;
      if (line.starts_with("GPU UUID")) gpu.uuid = value;
    }
    gpu.type = ServiceGpuType(gpu.name);
    // A sleeping driver shows question marks. CUDA then uses the index.
    if (gpu.uuid.empty() || gpu.uuid.find('?') != std::string::npos) {
      gpu.uuid = std::to_string(gpu.index);
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

// Finds /dev/accel0... (TPU VMs up to v4), else /dev/vfio/0... (later VMs; "vfio" is a control
// file).
std::vector<TpuChip> FindTpuChips(const Path& dev) {
  std::vector<std::pair<int64_t, std::string>> accel;
  std::vector<std::pair<int64_t, std::string>> vfio;
  std::error_code error;
  for (fs::directory_iterator it(dev, error), end; it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.starts_with("accel")) continue;
    if (const auto number = Number(name.substr(5))) accel.emplace_back(*number, it->path());
  }
  for (fs::directory_iterator it(dev / "vfio", error), end; it != end; it.increment(error)) {
    if (const auto number = Number(it->path().filename().string())) {
      vfio.emplace_back(*number, it->path());
    }
  }
  auto& found = accel.empty() ? vfio : accel;
  std::sort(found.begin(), found.end());
  std::vector<TpuChip> chips;
  for (const auto& [number, path] : found) {
    chips.push_back({static_cast<int>(chips.size()), path});
  }
  return chips;
}

}  // namespace

std::string ServiceGpuType(std::string_view product_name) {
  for (const std::string& word : Split(ReplaceAll(std::string(product_name), "-", " "), ' ')) {
    for (const std::string& type : AcceleratorTypes()) {
      if ("NVIDIA_TESLA_" + word == type) return type;
    }
  }
  return "";
}

Result<std::vector<Gpu>> FakeGpus(std::string_view text) {
  std::vector<std::string> types;
  for (const std::string& part : Split(text, ',')) RETURN_IF_ERROR(AddFakes(text, part, types));
  std::vector<Gpu> gpus;
  for (const std::string& type : types) {
    gpus.push_back(FakeGpu(static_cast<int>(gpus.size()), type));
  }
  return gpus;
}

std::vector<Gpu> LimitToVisible(std::vector<Gpu> gpus, std::string_view visible) {
  std::vector<Gpu> left;
  for (const std::string& raw : Split(visible, ',')) {
    const std::string entry(Trim(raw));
    const auto index = Number(entry);
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
      return index ? gpu.index == *index : !entry.empty() && gpu.uuid.starts_with(entry);
    });
    if (found == gpus.end()) break;  // CUDA also stops at the first unknown entry
    left.push_back(*found);
    gpus.erase(found);
  }
  return left;
}

std::vector<Gpu> ParseNvidiaSmi(std::string_view csv) {
  std::vector<Gpu> gpus;
  for (const std::string& line : Split(csv, '\n')) {
    std::vector<std::string> cells = Split(line, ',');
    if (cells.size() != 5) continue;
    for (std::string& cell : cells) cell = std::string(Trim(cell));
    const auto index = Number(cells[0]);
    if (!index || cells[1].empty()) continue;
    gpus.push_back({static_cast<int>(*index), cells[1], cells[2], ServiceGpuType(cells[2]),
                    Number(cells[3]).value_or(0), cells[4]});
  }
  return gpus;
}

DeviceInventory InventoryFor(const DevicePlaces& places, std::vector<Gpu> fakes,
                             const std::optional<std::string>& visible) {
  DeviceInventory inventory;
  if (fakes.empty()) {
    inventory = ReadInventory(places);
    if (visible) inventory.gpus = LimitToVisible(std::move(inventory.gpus), *visible);
    return inventory;
  }
  inventory.tpu_chips = FindTpuChips(places.dev);
  AddNodes(places, inventory);
  inventory.gpus = std::move(fakes);
  for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
    inventory.gpu_control_nodes.push_back({kNoDevice, name});
  }
  inventory.gpu_source = "fake";
  inventory.gpus_are_fake = true;
  return inventory;
}

DeviceInventory ReadInventory(const DevicePlaces& places) {
  DeviceInventory inventory;
  inventory.tpu_chips = FindTpuChips(places.dev);
  const auto take = [&](std::vector<Gpu> gpus, const char* source) {
    if (gpus.empty()) return false;
    inventory.gpus = std::move(gpus);
    inventory.gpu_source = source;
    return true;
  };
  const auto nvml = AskNvml(places.nvml);
  const bool is_found = (nvml.ok() && take(*nvml, "NVML")) ||
                        take(AskNvidiaSmi(places), "nvidia-smi") ||
                        take(ReadProc(places.proc_nvidia), "/proc/driver/nvidia");
  if (is_found || !inventory.tpu_chips.empty()) AddNodes(places, inventory);
  return inventory;
}

}  // namespace caip::host
