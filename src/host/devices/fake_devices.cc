#include "host/devices/fake_devices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "host/devices/device_errors.h"
#include "host/devices/smi/smi_answers.h"

namespace caip::host {
namespace {

using engine::DeviceNode;

constexpr int kFakeGpusMax = 1024;
constexpr auto kForAllUsersOfAnImage = std::filesystem::perms(0644);

// A profile of MIG (NVIDIA's "MIG User Guide", section "Supported MIG Profiles": the A100 with
// 40 GB, the only GPU of the service with MIG).
struct MigProfile {
  const char* name;
  int compute_slices;  // of kComputeSlices
  int memory_slices;   // of kMemorySlices
  int64_t memory_mib;
  int first_id;  // of its GPU instances
};
constexpr int kComputeSlices = 7;
constexpr int kMemorySlices = 8;
constexpr char kMigType[] = "NVIDIA_TESLA_A100";
constexpr MigProfile kMigProfiles[] = {
    {"1g.5gb", 1, 1, 4864, 7},   {"1g.10gb", 1, 2, 9856, 7},  {"2g.10gb", 2, 2, 9984, 3},
    {"3g.20gb", 3, 4, 20096, 1}, {"4g.20gb", 4, 4, 20096, 1}, {"7g.40gb", 7, 8, 40448, 0},
};

// A kind of TPU. Up to v4 its chips have /dev/accel0..., later ones /dev/vfio/0....
struct TpuKind {
  const char* name;
  int chips;
  bool is_vfio;
};
constexpr TpuKind kTpuKinds[] = {{"v2-8", 4, false},       {"v3-8", 4, false},
                                 {"v4-8", 4, false},       {"v5litepod-1", 1, true},
                                 {"v5litepod-4", 4, true}, {"v5litepod-8", 8, true}};

// "4xNVIDIA_TESLA_T4" or "3x2g.10gb": how many of what.
struct Counted {
  int count = 0;
  std::string what;
};

std::optional<Counted> ParseCounted(std::string_view text) {
  const size_t x = text.find('x');
  if (x == std::string_view::npos || x == 0 || x > 6) return std::nullopt;
  Counted counted{0, std::string(text.substr(x + 1))};
  for (const char c : text.substr(0, x)) {
    if (c < '0' || c > '9') return std::nullopt;
    counted.count = counted.count * 10 + (c - '0');
  }
  return counted.count > 0 ? std::optional(counted) : std::nullopt;
}

// Facts for programs that query fake GPUs (NVIDIA's data sheets and "CUDA GPU Compute
// Capability"; of a K80, which has two GPUs, one).
struct FakeGpuFacts {
  const char* type;
  int64_t memory_mib;
  const char* compute_capability;
  int power_watts;
};
constexpr FakeGpuFacts kFakeGpuFacts[] = {
    {"NVIDIA_TESLA_K80", 11441, "3.7", 149},  {"NVIDIA_TESLA_P4", 7611, "6.1", 75},
    {"NVIDIA_TESLA_P100", 16160, "6.0", 250}, {"NVIDIA_TESLA_V100", 16160, "7.0", 300},
    {"NVIDIA_TESLA_T4", 15360, "7.5", 70},    {kMigType, 40960, "8.0", 400},
};

// `type`: one of ServiceGpuTypes().
const FakeGpuFacts& FindFacts(std::string_view type) {
  return *std::find_if(std::begin(kFakeGpuFacts), std::end(kFakeGpuFacts) - 1,
                       [&](const FakeGpuFacts& facts) { return facts.type == type; });
}

std::string FakeUuid(const char* begin, int number) {
  char uuid[64];
  std::snprintf(uuid, sizeof uuid, "%s-ca1bfa4e-0000-4000-8000-%012x", begin, number);
  return uuid;
}

Gpu FakeGpu(int minor, const std::string& type) {
  char bus[32];
  std::snprintf(bus, sizeof bus, "00000000:%02X:%02X.0", 4 + minor / 32, minor % 32);
  return {minor,
          FakeUuid("GPU", minor),
          "fake " + type,
          type,
          FindFacts(type).memory_mib,
          bus,
          {{kFileOfFakeDevices, "/dev/nvidia" + std::to_string(minor)}}};
}

// The numbers of capability files as the driver gives them: for each GPU those of 15 GPU instances,
// for each of these its own and those of 8 compute instances.
DeviceNode FakeCapability(int minor, int gpu_instance, int place) {
  const int number = 3 + 135 * minor + 9 * gpu_instance + place;
  return {kFileOfFakeDevices, "/dev/nvidia-caps/nvidia-cap" + std::to_string(number)};
}

Gpu FakeInstance(const Gpu& parent, const MigProfile& profile, int gpu_instance) {
  Gpu gpu = parent;
  gpu.uuid = FakeUuid("MIG", parent.index * 256 + gpu_instance);
  gpu.name += " MIG " + std::string(profile.name);
  gpu.memory_mib = profile.memory_mib;
  gpu.mig = MigInstance{parent.uuid, parent.index, gpu_instance, 0};
  for (const int place : {0, 1}) {
    gpu.nodes.push_back(FakeCapability(parent.index, gpu_instance, place));
  }
  return gpu;
}

std::string MigNames() {
  std::vector<std::string> names;
  for (const MigProfile& profile : kMigProfiles) names.emplace_back(profile.name);
  return Join(names, ", ");
}

// One profile for each instance; the larger ones first, as a GPU has room for them.
Result<std::vector<MigProfile>> ParseProfiles(std::string_view text, std::string_view parts) {
  std::vector<MigProfile> profiles;
  int compute = 0;
  int memory = 0;
  for (const std::string& part : Split(parts, '+')) {
    const auto counted = ParseCounted(Trim(part));
    if (!counted) return errors::FakeGpusMalformed(text, "'" + part + "' has no count");
    const auto known =
        std::find_if(std::begin(kMigProfiles), std::end(kMigProfiles),
                     [&](const MigProfile& one) { return counted->what == one.name; });
    if (known == std::end(kMigProfiles)) {
      return errors::FakeGpusMalformed(
          text, "'" + counted->what + "' is not a MIG profile of an A100 (" + MigNames() + ")");
    }
    compute += counted->count * known->compute_slices;
    memory += counted->count * known->memory_slices;
    if (compute > kComputeSlices || memory > kMemorySlices) {
      return errors::FakeGpusMalformed(
          text, "the MIG instances '" + std::string(parts) + "' do not fit on one GPU");
    }
    profiles.insert(profiles.end(), static_cast<size_t>(counted->count), *known);
  }
  std::stable_sort(profiles.begin(), profiles.end(), [](const MigProfile& a, const MigProfile& b) {
    return a.compute_slices > b.compute_slices;
  });
  return profiles;
}

void AddInstances(const Gpu& parent, const std::vector<MigProfile>& profiles,
                  std::vector<Gpu>& gpus) {
  std::map<int, int> next;
  for (const MigProfile& profile : profiles) {
    const int gpu_instance = profile.first_id + next[profile.first_id]++;
    gpus.push_back(FakeInstance(parent, profile, gpu_instance));
  }
}

// Adds the GPUs of one entry. `minors`: the number of GPUs so far, split or not.
Status AddFakes(std::string_view text, std::string_view entry, int& minors,
                std::vector<Gpu>& gpus) {
  const size_t colon = entry.find(':');
  const auto counted = ParseCounted(entry.substr(0, colon));
  if (!counted) {
    return errors::FakeGpusMalformed(text, "'" + std::string(entry) + "' has no count");
  }
  const std::vector<std::string> known = ServiceGpuTypes();
  if (std::find(known.begin(), known.end(), counted->what) == known.end()) {
    return errors::FakeGpusMalformed(
        text,
        "'" + counted->what + "' is not a GPU type of the service (" + Join(known, ", ") + ")");
  }
  std::vector<MigProfile> profiles;
  if (colon != std::string_view::npos) {
    if (counted->what != kMigType) {
      return errors::FakeGpusMalformed(
          text, "'" + counted->what + "' has no MIG; only " + kMigType + " does");
    }
    ASSIGN_OR_RETURN(profiles, ParseProfiles(text, entry.substr(colon + 1)));
  }
  if (minors + counted->count > kFakeGpusMax) {
    return errors::FakeGpusMalformed(text, "more than " + std::to_string(kFakeGpusMax));
  }
  for (int i = 0; i < counted->count; ++i) {
    const Gpu gpu = FakeGpu(minors++, counted->what);
    if (profiles.empty()) gpus.push_back(gpu);
    AddInstances(gpu, profiles, gpus);
  }
  return Ok{};
}

Status AddFakeTpu(std::string_view text, FakeDevices& fakes) {
  std::vector<std::string> known;
  for (const TpuKind& kind : kTpuKinds) {
    known.emplace_back(kind.name);
    if (text != kind.name) continue;
    for (int i = 0; i < kind.chips; ++i) {
      const std::string shown = (kind.is_vfio ? "/dev/vfio/" : "/dev/accel") + std::to_string(i);
      fakes.tpu_chips.push_back({i, shown});
      fakes.tpu_nodes.push_back({kFileOfFakeDevices, shown});
    }
    if (kind.is_vfio) fakes.tpu_nodes.push_back({kFileOfFakeDevices, "/dev/vfio/vfio"});
    return Ok{};
  }
  return errors::FakeTpuMalformed(text, Join(known, ", "));
}

// 1 for "/dev/nvidia1", the first file of each fake GPU.
int MinorOfFake(const Gpu& gpu) {
  const std::string& shown = gpu.nodes.front().shown;
  return std::atoi(shown.c_str() + shown.find_first_of("0123456789"));
}

std::string DescriptionOf(const Gpu& gpu) {
  const FakeGpuFacts& facts = FindFacts(gpu.type);
  smi::SmiGpu described{MinorOfFake(gpu), gpu.uuid, "fake " + gpu.type, facts.memory_mib,
                        gpu.pci_bus_id};
  described.compute_capability = facts.compute_capability;
  described.power_watts = facts.power_watts;
  if (gpu.mig) {
    described.uuid = gpu.mig->parent_uuid;
    described.instances = {{gpu.name.substr(gpu.name.rfind(' ') + 1), gpu.uuid,
                            gpu.mig->gpu_instance, gpu.memory_mib}};
  }
  return smi::DescribeSmiGpu(described);
}

}  // namespace

Result<std::vector<Gpu>> FakeGpus(std::string_view text) {
  std::vector<Gpu> gpus;
  int minors = 0;
  for (const std::string& part : Split(text, ',')) {
    RETURN_IF_ERROR(AddFakes(text, Trim(part), minors, gpus));
  }
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i].index = static_cast<int>(i);
  return gpus;
}

Result<FakeDevices> MakeFakeDevices(std::string_view gpus, std::string_view tpu) {
  FakeDevices fakes;
  if (!gpus.empty()) {
    ASSIGN_OR_RETURN(fakes.gpus, FakeGpus(gpus));
    for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
      fakes.gpu_control_nodes.push_back({kFileOfFakeDevices, name});
    }
  }
  if (!tpu.empty()) RETURN_IF_ERROR(AddFakeTpu(tpu, fakes));
  return fakes;
}

Status GiveGpuTools(const GpuTools& tools, const Path& directory, FakeDevices& fakes) {
  if (fakes.gpus.empty()) return Ok{};
  RETURN_IF_ERROR(MakeDirectories(directory));
  const Path shown = smi::kDirectory;
  fakes.gpu_control_nodes.push_back({tools.program, shown / smi::kProgram, true});
  fakes.gpu_control_nodes.push_back({tools.library, shown / smi::kLibrary, true});
  for (Gpu& gpu : fakes.gpus) {
    const std::string name = smi::kFileBegin + std::to_string(gpu.index);
    RETURN_IF_ERROR(WriteFile(directory / name, DescriptionOf(gpu)));
    std::error_code error;
    std::filesystem::permissions(directory / name, kForAllUsersOfAnImage, error);
    gpu.nodes.push_back({directory / name, shown / name, true});
  }
  return Ok{};
}

bool HasFakeGpus(const engine::ReplicaLaunch& launch) {
  const std::string program = Path(smi::kDirectory) / smi::kProgram;
  return std::any_of(launch.device_nodes.begin(), launch.device_nodes.end(),
                     [&](const DeviceNode& node) { return node.shown == program; });
}

}  // namespace caip::host
