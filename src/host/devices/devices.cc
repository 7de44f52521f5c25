#include "host/devices/devices.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "host/devices/mig.h"
#include "host/devices/nvml.h"
#include "host/process/child_process.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kNvidiaSmiTimeout{10};
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

// The files of NVIDIA's driver that each user of a GPU opens.
constexpr const char* kGpuControls[] = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                        "nvidia-modeset"};

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
  return std::to_string(gpu.mig ? gpu.mig->parent_index : gpu.index);
}

void AddNodes(const DevicePlaces& places, DeviceInventory& inventory) {
  const auto described = inventory.gpus.empty() ? GpuDriver{} : ReadGpuDriver(places.driver);
  for (Gpu& gpu : inventory.gpus) {
    if (const auto found = described.nodes.find(gpu.uuid); found != described.nodes.end()) {
      gpu.nodes = found->second;
      continue;
    }
    const std::string minor = MinorOf(gpu, places.proc_nvidia);
    const std::string node = places.dev / ("nvidia" + minor);
    gpu.nodes = {{node, node}};
    if (!gpu.mig) continue;
    const auto instance = MigNodes(*gpu.mig, minor, places.proc_nvidia, places.dev);
    gpu.nodes.insert(gpu.nodes.end(), instance.begin(), instance.end());
  }
  if (!inventory.gpus.empty()) inventory.gpu_control_nodes = FindControlNodes(places.dev);
  for (const TpuChip& chip : inventory.tpu_chips) {
    inventory.tpu_nodes.push_back({chip.device, chip.device});
  }
  std::error_code error;
  const Path control = places.dev / "vfio/vfio";
  if (!inventory.tpu_chips.empty() && fs::exists(control, error)) {
    inventory.tpu_nodes.push_back({control, control});
  }
}

// What nvidia-smi says; "" if it fails.
std::string Said(const DevicePlaces& places, const std::vector<std::string>& words) {
  Tool tool{.argv = {"nvidia-smi"},
            .environment = {{"PATH", places.path}, {"LC_ALL", "C"}},
            .timeout = kNvidiaSmiTimeout};
  tool.argv.insert(tool.argv.end(), words.begin(), words.end());
  const auto said = CaptureTool(std::move(tool));
  return said.ok() && said->result.ok() ? said->out : "";
}

std::vector<Gpu> AskNvidiaSmi(const DevicePlaces& places) {
  std::vector<Gpu> gpus =
      ParseNvidiaSmi(Said(places, {"--query-gpu=index,uuid,name,memory.total,pci.bus_id",
                                   "--format=csv,noheader,nounits"}));
  return gpus.empty() ? gpus : WithMigInstances(std::move(gpus), Said(places, {"-L"}));
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

std::vector<std::string> ServiceGpuTypes() {
  return {"NVIDIA_TESLA_K80",  "NVIDIA_TESLA_P4", "NVIDIA_TESLA_P100",
          "NVIDIA_TESLA_V100", "NVIDIA_TESLA_T4", "NVIDIA_TESLA_A100"};
}

std::string ServiceGpuType(std::string_view product_name) {
  for (const std::string& word : Split(ReplaceAll(std::string(product_name), "-", " "), ' ')) {
    for (const std::string& type : ServiceGpuTypes()) {
      if ("NVIDIA_TESLA_" + word == type) return type;
    }
  }
  return "";
}

std::vector<Gpu> LimitToVisible(std::vector<Gpu> gpus, std::string_view visible) {
  std::vector<Gpu> left;
  for (const std::string& raw : Split(visible, ',')) {
    const std::string entry(Trim(raw));
    const auto index = Number(entry);
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
      if (index) return gpu.index == *index;
      return !entry.empty() &&
             (gpu.uuid.starts_with(entry) || (gpu.mig && IsNamed(*gpu.mig, entry)));
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

DeviceInventory InventoryFor(const DevicePlaces& places, FakeDevices fakes,
                             const std::optional<std::string>& visible) {
  DeviceInventory inventory;
  if (fakes.gpus.empty()) {
    inventory = ReadInventory(places);
    if (visible) inventory.gpus = LimitToVisible(std::move(inventory.gpus), *visible);
  } else {
    inventory.tpu_chips = FindTpuChips(places.dev);
    AddNodes(places, inventory);
    inventory.gpus = std::move(fakes.gpus);
    inventory.gpu_control_nodes = std::move(fakes.gpu_control_nodes);
    inventory.gpu_source = "fake";
    inventory.gpus_are_fake = true;
  }
  if (fakes.tpu_chips.empty()) return inventory;
  inventory.tpu_chips = std::move(fakes.tpu_chips);
  inventory.tpu_nodes = std::move(fakes.tpu_nodes);
  inventory.tpu_is_fake = true;
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
