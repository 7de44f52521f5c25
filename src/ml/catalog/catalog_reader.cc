// catalog.json -> Catalog.

#include <algorithm>

#include "base/json.h"
#include "ml/catalog/catalog.h"
#include "ml/errors.h"

namespace caip::ml {
namespace {

constexpr std::pair<const char*, Role> kTierRoles[] = {
    {"master", Role::kMaster},
    {"worker", Role::kWorker},
    {"parameter_server", Role::kParameterServer},
    {"evaluator", Role::kEvaluator},
};

std::vector<std::string> Texts(const Json* list) {
  std::vector<std::string> texts;
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& entry : *list) {
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  }
  return texts;
}

std::vector<int64_t> Counts(const Json& list) {
  std::vector<int64_t> counts;
  for (const Json& entry : list) {
    if (entry.is_number_integer()) counts.push_back(entry.get<int64_t>());
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

// ["NVIDIA_TESLA_K80", 4]; leaves both unchanged if the member is missing.
void ReadAccelerator(const Json* pair, std::string& type, int64_t& count) {
  if (pair == nullptr || !pair->is_array() || pair->size() != 2) return;
  if (!(*pair)[0].is_string() || !(*pair)[1].is_number_integer()) return;
  type = (*pair)[0].get<std::string>();
  count = (*pair)[1].get<int64_t>();
}

double Number(const Json& object, std::string_view name) {
  const Json* found = Member(object, name);
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

bool Flag(const Json& object, std::string_view name) {
  const Json* found = Member(object, name);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

}  // namespace

/// Fills one Catalog; stops at the first entry that makes no sense.
class CatalogReader {
 public:
  Result<Catalog> Read(const Json& document) {
    RETURN_IF_ERROR(ReadComputeEngineMachines(document));
    RETURN_IF_ERROR(ReadLegacyMachines(document));
    RETURN_IF_ERROR(ReadAcceleratorCounts(document));
    RETURN_IF_ERROR(ReadTpu(document));
    RETURN_IF_ERROR(ReadTiers(document));
    RETURN_IF_ERROR(ReadRuntimes(document));
    RETURN_IF_ERROR(ReadRegions(document));
    RETURN_IF_ERROR(ReadBuiltInAlgorithms(document));
    return std::move(catalog_);
  }

 private:
  // The array `list` (or another name) of a chapter.
  static Result<const Json*> Chapter(const Json& document, const std::string& chapter,
                                     const std::string& list = "list") {
    const Json* found = Member(document, chapter);
    const Json* entries = found == nullptr ? nullptr : Member(*found, list);
    if (entries == nullptr || !entries->is_array() || entries->empty()) {
      return errors::CatalogBroken(chapter, "it has no array '" + list + "'");
    }
    return entries;
  }

  Status AddMachine(MachineType machine) {
    if (machine.name.empty() || machine.vcpus < 0 || machine.memory_gb < 0) {
      return errors::CatalogBroken(machine.name, "a machine needs name, vcpus and gb");
    }
    if (catalog_.FindMachine(machine.name) != nullptr) {
      return errors::CatalogBroken(machine.name, "it is listed twice");
    }
    catalog_.machines_.push_back(std::move(machine));
    return Ok{};
  }

  static MachineType Machine(const Json& entry, MachineCategory category) {
    MachineType machine;
    machine.name = StringOr(entry, "name");
    machine.category = category;
    machine.equivalent = StringOr(entry, "equivalent");
    machine.vcpus = static_cast<int>(IntOr(entry, "vcpus", 0));
    machine.memory_gb = Number(entry, "gb");
    ReadAccelerator(Member(entry, "gpu"), machine.gpu_type, machine.gpu_count);
    return machine;
  }

  Status ReadComputeEngineMachines(const Json& document) {
    ASSIGN_OR_RETURN(const Json* series, Chapter(document, "compute_engine_machines", "series"));
    for (const Json& entry : *series) {
      const Json* sizes = Member(entry, "vcpus");
      if (sizes == nullptr) return errors::CatalogBroken(StringOr(entry, "series"), "no vcpus");
      for (const int64_t vcpus : Counts(*sizes)) {
        MachineType machine;
        machine.name = StringOr(entry, "series") + "-" + std::to_string(vcpus);
        machine.vcpus = static_cast<int>(vcpus);
        machine.memory_gb = Number(entry, "gb_per_vcpu") * static_cast<double>(vcpus);
        machine.tier_only = Flag(entry, "tier_only");
        RETURN_IF_ERROR(AddMachine(std::move(machine)));
      }
    }
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "compute_engine_machines"));
    for (const Json& entry : *list) {
      RETURN_IF_ERROR(AddMachine(Machine(entry, MachineCategory::kComputeEngine)));
    }
    return Ok{};
  }

  Status ReadLegacyMachines(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "legacy_machines"));
    for (const Json& entry : *list) {
      RETURN_IF_ERROR(AddMachine(Machine(entry, MachineCategory::kLegacy)));
    }
    return Ok{};
  }

  Status ReadBuiltInAlgorithms(const Json& document) {
    const std::string chapter = "built_in_algorithms";
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, chapter));
    const Json& built_in = *Member(document, chapter);
    catalog_.built_in_image_prefix_ = StringOr(built_in, "image_prefix");
    if (catalog_.built_in_image_prefix_.empty()) {
      return errors::CatalogBroken(chapter, "image_prefix is missing");
    }
    for (const Json& entry : *list) {
      BuiltInAlgorithm algorithm{StringOr(entry, "image"), StringOr(entry, "framework"),
                                 StringOr(built_in, "runtime_version"),
                                 StringOr(built_in, "python_version")};
      if (algorithm.image.empty() || algorithm.framework.empty()) {
        return errors::CatalogBroken(chapter, "an algorithm needs image and framework");
      }
      catalog_.built_in_algorithms_.push_back(std::move(algorithm));
    }
    return Ok{};
  }

  Status ReadAcceleratorCounts(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "accelerators"));
    for (const Json& entry : *list) {
      const Json* counts = Member(entry, "counts");
      for (const std::string& name : Texts(Member(entry, "machines"))) {
        const auto machine = std::find_if(catalog_.machines_.begin(), catalog_.machines_.end(),
                                          [&](const MachineType& m) { return m.name == name; });
        if (machine == catalog_.machines_.end() || counts == nullptr) {
          return errors::CatalogBroken("accelerators", "no machine '" + name + "', or no counts");
        }
        for (const auto& [type, row] : counts->items()) {
          machine->accelerator_counts[type] = Counts(row);
        }
      }
    }
    return Ok{};
  }

  Status ReadTpu(const Json& document) {
    const Json* chapter = Member(document, "tpu");
    const Json* counts = chapter == nullptr ? nullptr : Member(*chapter, "counts");
    if (counts == nullptr) return errors::CatalogBroken("tpu", "it has no counts");
    TpuRules& tpu = catalog_.tpu_;
    tpu.machine_type = StringOr(*chapter, "machine");
    tpu.default_type = StringOr(*chapter, "default_type");
    tpu.default_count = IntOr(*chapter, "default_count", 0);
    for (const auto& [type, row] : counts->items()) tpu.counts[type] = Counts(row);
    tpu.pod_types = Texts(Member(*chapter, "pod_types"));
    tpu.pod_multiple = IntOr(*chapter, "pod_multiple", 0);
    if (tpu.pod_multiple <= 0 || !tpu.Allows(tpu.default_type, tpu.default_count)) {
      return errors::CatalogBroken("tpu", "pod_multiple or the default makes no sense");
    }
    MachineType machine;
    machine.name = tpu.machine_type;
    machine.category = MachineCategory::kTpu;
    return AddMachine(std::move(machine));
  }

  Status ReadTiers(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "tiers"));
    for (const Json& entry : *list) {
      ScaleTier tier;
      tier.name = StringOr(entry, "name");
      for (const auto& [key, role] : kTierRoles) {
        const Json* part = Member(entry, key);
        if (part == nullptr) continue;
        TierRole of{role, StringOr(*part, "machine"), IntOr(*part, "count", 0), "", 0};
        ReadAccelerator(Member(*part, "accelerator"), of.accelerator_type, of.accelerator_count);
        if (of.count <= 0 || catalog_.FindMachine(of.machine_type) == nullptr) {
          return errors::CatalogBroken(tier.name, "a role needs a known machine and a count");
        }
        tier.roles.push_back(std::move(of));
      }
      catalog_.tiers_.push_back(std::move(tier));
    }
    return Ok{};
  }

  Status ReadRuntimes(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "runtimes"));
    for (const Json& entry : *list) {
      Runtime runtime;
      runtime.version = StringOr(entry, "version");
      runtime.pythons = Texts(Member(entry, "pythons"));
      runtime.supports_tpu = Flag(entry, "tpu");
      if (const Json* frameworks = Member(entry, "frameworks")) {
        for (const auto& [name, version] : frameworks->items()) {
          if (version.is_string()) runtime.frameworks[name] = version.get<std::string>();
        }
      }
      if (!ParseRuntimeVersion(runtime.version) || runtime.pythons.empty()) {
        return errors::CatalogBroken(runtime.version, "a runtime needs a version and pythons");
      }
      catalog_.runtimes_.push_back(std::move(runtime));
    }
    return Ok{};
  }

  Status ReadRegions(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "regions"));
    for (const Json& entry : *list) {
      catalog_.regions_.push_back({StringOr(entry, "name"), Texts(Member(entry, "accelerators"))});
    }
    std::sort(catalog_.regions_.begin(), catalog_.regions_.end(),
              [](const Region& a, const Region& b) { return a.name < b.name; });
    return Ok{};
  }

  Catalog catalog_;
};

Result<Catalog> Catalog::Parse(std::string_view json_text) {
  ASSIGN_OR_RETURN(const Json document, ParseJson(json_text));
  return CatalogReader().Read(document);
}

}  // namespace caip::ml
