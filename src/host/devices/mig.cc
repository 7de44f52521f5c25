#include "host/devices/mig.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/text.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;

constexpr char kCapabilityMinor[] = "DeviceFileMinor:";
constexpr size_t kAccessBytesMax = 4096;

std::string Numbered(const char* word, int number) { return word + std::to_string(number); }

// Adds the file in /dev that a capability names in its "access".
void AddCapability(const Path& capability, const Path& dev,
                   std::vector<engine::DeviceNode>& nodes) {
  const auto text = ReadFileUpTo(capability / "access", kAccessBytesMax);
  for (const std::string& line : Split(text.ok() ? *text : "", '\n')) {
    if (!line.starts_with(kCapabilityMinor)) continue;
    const std::string minor(Trim(std::string_view(line).substr(sizeof kCapabilityMinor - 1)));
    const std::string node = dev / "nvidia-caps" / ("nvidia-cap" + minor);
    std::error_code error;
    if (fs::exists(node, error)) nodes.push_back({node, node});
  }
}

std::vector<Path> DirectoriesIn(const Path& directory, std::string_view beginning) {
  std::vector<Path> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(beginning)) found.push_back(at->path());
  }
  return found;
}

// The text between "UUID: " and ")".
std::string UuidOf(std::string_view line) {
  constexpr std::string_view kBefore = "UUID: ";
  const size_t begin = line.find(kBefore);
  if (begin == std::string_view::npos) return "";
  line.remove_prefix(begin + kBefore.size());
  return std::string(line.substr(0, line.find(')')));
}

// A line such as "  MIG 1g.5gb      Device  0: (UUID: MIG-...)" below that of its GPU.
Gpu InstanceOf(const Gpu& parent, std::string_view line) {
  Gpu gpu = parent;
  gpu.uuid = UuidOf(line);
  gpu.name += " " + std::string(Trim(line.substr(0, line.find("Device"))));
  gpu.memory_mib = 0;  // nvidia-smi does not say
  gpu.mig = MigInstance{.parent_uuid = parent.uuid, .parent_index = parent.index};
  return gpu;
}

}  // namespace

std::vector<engine::DeviceNode> MigNodes(const MigInstance& instance, const std::string& minor,
                                         const Path& proc_nvidia, const Path& dev) {
  const Path all = proc_nvidia / "capabilities" / ("gpu" + minor) / "mig";
  const bool is_known = instance.gpu_instance >= 0 && instance.compute_instance >= 0;
  const auto gpu_instances = is_known
                                 ? std::vector<Path>{all / Numbered("gi", instance.gpu_instance)}
                                 : DirectoriesIn(all, "gi");
  std::vector<engine::DeviceNode> nodes;
  for (const Path& gpu_instance : gpu_instances) {
    AddCapability(gpu_instance, dev, nodes);
    const auto compute_instances =
        is_known ? std::vector<Path>{gpu_instance / Numbered("ci", instance.compute_instance)}
                 : DirectoriesIn(gpu_instance, "ci");
    for (const Path& compute_instance : compute_instances) {
      AddCapability(compute_instance, dev, nodes);
    }
  }
  return nodes;
}

std::vector<Gpu> WithMigInstances(std::vector<Gpu> gpus, std::string_view listed) {
  std::map<std::string, std::vector<std::string>> lines;  // of instances, by the UUID of their GPU
  std::string parent;
  for (const std::string& line : Split(listed, '\n')) {
    const std::string_view text = Trim(line);
    if (text.starts_with("GPU ")) parent = UuidOf(text);
    if (text.starts_with("MIG ") && !UuidOf(text).empty()) lines[parent].emplace_back(text);
  }
  std::vector<Gpu> all;
  for (Gpu& gpu : gpus) {
    const auto found = lines.find(gpu.uuid);
    if (found == lines.end()) {
      all.push_back(std::move(gpu));
      continue;
    }
    for (const std::string& line : found->second) all.push_back(InstanceOf(gpu, line));
  }
  for (size_t i = 0; i < all.size(); ++i) all[i].index = static_cast<int>(i);
  return all;
}

bool IsNamed(const MigInstance& instance, std::string_view name) {
  return name == "MIG-" + instance.parent_uuid + "/" + std::to_string(instance.gpu_instance) + "/" +
                     std::to_string(instance.compute_instance);
}

}  // namespace caip::host
