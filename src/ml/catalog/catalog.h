#pragma once
// What the service offers: scale tiers, machine types, accelerators, regions, runtime versions,
// TPUs, built-in algorithms. All of it is data (catalog.json, with its sources); this
// class only looks entries up.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ml/job.h"

namespace caip::ml {

/// What one role gets from a scale tier.
struct TierRole {
  Role role = Role::kMaster;
  std::string machine_type;
  int64_t count = 0;
  std::string accelerator_type;  // "" none; of each replica
  int64_t accelerator_count = 0;
};

/// A scale tier; CUSTOM has no roles: the job names its machines itself.
struct ScaleTier {
  std::string name;
  std::vector<TierRole> roles;  // in the order of kRoles; absent roles are left out
  bool IsCustom() const { return name == "CUSTOM"; }
  /// nullptr when the tier has no replica of that role.
  const TierRole* Of(Role role) const;
};

/// All machine types of a job are legacy, or all are Compute Engine's; cloud_tpu stands beside
/// both.
enum class MachineCategory { kLegacy, kComputeEngine, kTpu };

struct MachineType {
  std::string name;
  MachineCategory category = MachineCategory::kComputeEngine;
  std::string equivalent;  // of a legacy type: the Compute Engine type it stands for
  int vcpus = 0;
  double memory_gb = 0;
  std::string gpu_type;  // GPUs that come with the machine: "NVIDIA_TESLA_K80"; "" none
  int64_t gpu_count = 0;
  bool tier_only = false;  // inside scale tiers, but no job may name it
  /// By accelerator type, the counts that acceleratorConfig may ask for; ascending.
  std::map<std::string, std::vector<int64_t>> accelerator_counts;
};

/// A runtime version, and the Pythons that go with it; the first is its default.
struct Runtime {
  std::string version;
  std::vector<std::string> pythons;
  std::map<std::string, std::string> frameworks;  // "tensorflow" -> "2.4.1"; unverified
  bool supports_tpu = false;
};

/// The module that Python imports for a framework of a runtime: "sklearn" for "scikit-learn".
std::string FrameworkModule(const std::string& framework);

struct Region {
  std::string name;
  std::vector<std::string> accelerators;  // names of AcceleratorConfig.type offered there
};

/// Rules of Cloud TPU workers.
struct TpuRules {
  std::string machine_type;  // "cloud_tpu"
  std::string default_type;  // what a worker without acceleratorConfig gets
  int64_t default_count = 0;
  std::map<std::string, std::vector<int64_t>> counts;  // single devices
  std::vector<std::string> pod_types;
  int64_t pod_multiple = 0;  // a pod has this many cores or a multiple

  bool IsTpuType(std::string_view accelerator_type) const;
  bool Allows(std::string_view accelerator_type, int64_t count) const;
  /// "8", "32 or a multiple of it": for error texts; "" for what is not a TPU.
  std::string CountsInWords(std::string_view accelerator_type) const;
};

/// A built-in algorithm: the image that names it, without prefix and tag, and what its jobs show in
/// builtInAlgorithmOutput.
struct BuiltInAlgorithm {
  std::string image;  // "boosted_trees"
  std::string framework;
  std::string runtime_version;
  std::string python_version;
};

/// The lists of the service. Immutable, so any thread may ask; the default one lives as long as the
/// process.
class Catalog {
 public:
  /// Reads the form of catalog.json. The error names the entry that is broken.
  static Result<Catalog> Parse(std::string_view json_text);

  const ScaleTier* FindTier(std::string_view name) const;       // nullptr: no such tier
  const MachineType* FindMachine(std::string_view name) const;  // nullptr: no such type
  const Runtime* FindRuntime(std::string_view version) const;   // nullptr: no such version
  const Region* FindRegion(std::string_view name) const;        // nullptr: not offered
  /// True for images under the prefix of the service's built-in algorithms.
  bool IsBuiltInAlgorithm(std::string_view image_uri) const;
  /// The algorithm of such an image with any tag; nullptr: not known.
  const BuiltInAlgorithm* FindBuiltInAlgorithm(std::string_view image_uri) const;

  const std::vector<ScaleTier>& tiers() const { return tiers_; }
  const std::vector<MachineType>& machines() const { return machines_; }
  const std::vector<Runtime>& runtimes() const { return runtimes_; }  // newest first
  const std::vector<Region>& regions() const { return regions_; }     // by name
  const TpuRules& tpu() const { return tpu_; }
  const std::vector<BuiltInAlgorithm>& built_in_algorithms() const { return built_in_algorithms_; }

 private:
  friend class CatalogReader;
  std::vector<ScaleTier> tiers_;
  std::vector<MachineType> machines_;
  std::vector<Runtime> runtimes_;
  std::vector<Region> regions_;
  TpuRules tpu_;
  std::string built_in_image_prefix_;
  std::vector<BuiltInAlgorithm> built_in_algorithms_;
};

/// The catalog of catalog.json, built in.
const Catalog& DefaultCatalog();

/// "2.4" as {2, 4}; nullopt for what does not have the form major.minor.
std::optional<std::pair<int, int>> ParseRuntimeVersion(std::string_view text);

}  // namespace caip::ml
