#include "host/devices/gpu_driver.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/yaml.h"
#include "host/devices/fake_devices.h"
#include "host/devices/smi/smi_files.h"
#include "host/images/image_errors.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;
using engine::DeviceNode;

constexpr char kKind[] = "nvidia.com/gpu";
constexpr size_t kDescriptionBytesMax = 4 << 20;
// The directory that images of CUDA look into, also on Google's machines.
constexpr char kLibraries[] = "/usr/local/nvidia/lib64";
constexpr char kPrograms[] = "/usr/local/nvidia/bin";
constexpr const char* kLibraryNames[] = {"libcuda.so", "libcudadebugger.so", "libnvcuvid.so",
                                         "libnvidia-"};
constexpr const char* kProgramNames[] = {"nvidia-smi", "nvidia-debugdump"};

const Json& Member(const Json& value, const char* name) {
  static const Json kNothing;
  const auto found = value.is_object() ? value.find(name) : value.end();
  return value.is_object() && found != value.end() ? *found : kNothing;
}

std::string Text(const Json& value, const char* name) {
  const Json& member = Member(value, name);
  return member.is_string() ? member.get<std::string>() : "";
}

bool IsLibrary(std::string_view name) { return name.find(".so") != std::string_view::npos; }

// The names of the links beside a library that lead to it: libcuda.so.1 for libcuda.so.535.104.
std::vector<std::string> NamesOf(const Path& library) {
  std::vector<std::string> names = {library.filename().string()};
  std::error_code error;
  const Path real = fs::canonical(library, error);
  for (fs::directory_iterator at(library.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code broken;
    const bool is_link = at->is_symlink(broken) && IsLibrary(name);
    if (is_link && name != names.front() && fs::canonical(at->path(), broken) == real) {
      names.push_back(name);
    }
  }
  return names;
}

void AddOnce(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// A library appears under all of its names, because no ldconfig runs in the image.
void AddFile(const Path& file, const Path& shown, GpuDriver& driver) {
  std::error_code error;
  if (!shown.is_absolute() || !fs::exists(file, error)) return;
  const bool is_library = IsLibrary(file.filename().native()) && !fs::is_directory(file, error);
  if (is_library) AddOnce(driver.library_directories, shown.parent_path());
  const Path real = fs::canonical(file, error);
  for (const std::string& name :
       is_library ? NamesOf(file) : std::vector{shown.filename().string()}) {
    const DeviceNode added{real.string(), (shown.parent_path() / name).string(), true};
    const auto is_there = [&](const DeviceNode& other) { return other.shown == added.shown; };
    if (std::none_of(driver.files.begin(), driver.files.end(), is_there)) {
      driver.files.push_back(added);
    }
  }
}

// The replica's devices are named by their loan, not by the description of all.
void AddVariables(const Json& edits, GpuDriver& driver) {
  for (const Json& entry : Member(edits, "env")) {
    const std::string text = entry.is_string() ? entry.get<std::string>() : "";
    const size_t equals = text.find('=');
    if (equals == std::string::npos || text.starts_with("NVIDIA_VISIBLE_DEVICES=")) continue;
    driver.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
}

void AddEdits(const Json& edits, GpuDriver& driver) {
  AddVariables(edits, driver);
  for (const Json& mount : Member(edits, "mounts")) {
    AddFile(Text(mount, "hostPath"), Text(mount, "containerPath"), driver);
  }
}

void AddNodes(const Json& device, GpuDriver& driver) {
  const Json& name = Member(device, "name");
  if (!name.is_string()) return;  // by index
  std::vector<DeviceNode> nodes;
  for (const Json& node : Member(Member(device, "containerEdits"), "deviceNodes")) {
    const std::string shown = Text(node, "path");
    const std::string file = Text(node, "hostPath");
    if (shown.starts_with("/dev/")) nodes.push_back({file.empty() ? shown : file, shown});
  }
  if (!nodes.empty()) driver.nodes[name.get<std::string>()] = std::move(nodes);
}

std::vector<Path> Descriptions(const std::vector<Path>& directories) {
  std::map<std::string, Path> by_name;
  for (const Path& directory : directories) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      const std::string kind = at->path().extension();
      if (kind == ".yaml" || kind == ".json") by_name[at->path().filename()] = at->path();
    }
  }
  std::vector<Path> found;
  for (auto& [name, path] : by_name) found.push_back(std::move(path));
  return found;
}

void ReadDescription(const Path& file, GpuDriver& driver) {
  const auto text = ReadFileUpTo(file, kDescriptionBytesMax);
  if (!text.ok()) return;
  const auto document = ParseYaml(*text, file.string());  // JSON is YAML
  if (!document.ok() || Text(document->value, "kind") != kKind) return;
  AddEdits(Member(document->value, "containerEdits"), driver);
  for (const Json& device : Member(document->value, "devices")) AddNodes(device, driver);
}

void FindLibraries(const DriverPlaces& places, GpuDriver& driver) {
  std::error_code error;
  for (const Path& directory : places.libraries) {
    if (!fs::exists(directory / "libcuda.so.1", error)) continue;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      const auto begins = [&](std::string_view known) { return name.starts_with(known); };
      if (!IsLibrary(name) ||
          std::none_of(std::begin(kLibraryNames), std::end(kLibraryNames), begins)) {
        continue;
      }
      AddFile(at->path(), Path(kLibraries) / name, driver);
    }
    return;
  }
}

void FindPrograms(const DriverPlaces& places, GpuDriver& driver) {
  for (const Path& directory : places.programs) {
    for (const char* name : kProgramNames) {
      std::error_code error;
      if (!fs::exists(directory / name, error)) continue;
      AddFile(directory / name, Path(kPrograms) / name, driver);
      AddOnce(driver.program_directories, kPrograms);
    }
  }
}

void AddDirectories(const std::vector<std::string>& directories, const char* variable,
                    engine::Environment& environment) {
  if (directories.empty()) return;
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const auto& entry) { return entry.first == variable; });
  std::string list = found == environment.end() ? "" : found->second;
  for (const std::string& directory : directories) {
    if ((":" + list + ":").find(":" + directory + ":") != std::string::npos) continue;
    list += (list.empty() ? "" : ":") + directory;
  }
  if (found == environment.end()) {
    environment.emplace_back(variable, list);
  } else {
    found->second = list;
  }
}

// Adds the directory of the fake GPUs' tools before the others of a variable.
void AddToolsTo(const char* variable, engine::Environment& environment) {
  for (auto& [name, value] : environment) {
    if (name == variable) value = smi::kDirectory + (value.empty() ? "" : ":" + value);
  }
}

// So that they come before an nvidia-smi and a libnvidia-ml.so.1 of this host or of the image. The
// dynamic linkers of glibc and musl search LD_LIBRARY_PATH before their own directories.
void AddFakeTools(engine::Environment& environment) {
  AddToolsTo("PATH", environment);
  const auto is_library_path = [](const auto& entry) { return entry.first == "LD_LIBRARY_PATH"; };
  if (std::none_of(environment.begin(), environment.end(), is_library_path)) {
    environment.emplace_back("LD_LIBRARY_PATH", "");
  }
  AddToolsTo("LD_LIBRARY_PATH", environment);
}

}  // namespace

GpuDriver ReadGpuDriver(const DriverPlaces& places) {
  GpuDriver driver;
  for (const Path& file : Descriptions(places.descriptions)) ReadDescription(file, driver);
  if (!driver.files.empty()) return driver;
  FindLibraries(places, driver);
  if (!driver.files.empty()) FindPrograms(places, driver);
  return driver;
}

bool NeedsDriver(const engine::ReplicaLaunch& launch) {
  const auto is_gpu = [](const DeviceNode& node) {
    return node.shown.starts_with("/dev/nvidia") && node.file != kFileOfFakeDevices;
  };
  return launch.image &&
         std::any_of(launch.device_nodes.begin(), launch.device_nodes.end(), is_gpu);
}

void AddDriver(const GpuDriver& driver, engine::ReplicaLaunch& launch) {
  launch.device_nodes.insert(launch.device_nodes.end(), driver.files.begin(), driver.files.end());
  for (const auto& variable : driver.environment) {
    const auto is_same = [&](const auto& entry) { return entry.first == variable.first; };
    const auto& own = launch.environment;
    if (std::none_of(own.begin(), own.end(), is_same)) launch.environment.push_back(variable);
  }
  AddDirectories(driver.library_directories, "LD_LIBRARY_PATH", launch.environment);
  AddDirectories(driver.program_directories, "PATH", launch.environment);
}

std::string HostGpuDriver::GiveTo(engine::ReplicaLaunch& launch) {
  const bool is_on_machine = launch.isolation || launch.image;  // else it sees the host's /dev
  if (is_on_machine && HasFakeGpus(launch)) AddFakeTools(launch.environment);
  if (!NeedsDriver(launch)) return "";
  if (!driver_) driver_ = ReadGpuDriver(places_);
  AddDriver(*driver_, launch);
  return driver_->files.empty() ? errors::DriverOfGpusMissing(launch.task) : "";
}

}  // namespace caip::host
