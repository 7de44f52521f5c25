#include "migration/pools.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/json.h"
#include "migration/errors.h"
#include "migration/tables.h"
#include "ml/catalog/catalog.h"
#include "ml/cluster.h"
#include "ml/command_line.h"
#include "ml/validate/validate.h"

namespace caip::migration {
namespace {

constexpr std::string_view kRetiredAccelerator = "NVIDIA_TESLA_K80";

/// Makes the pools of one job.
class PoolMaker {
 public:
  PoolMaker(const ml::TrainingInput& input, const MigrationOptions& options, Findings& findings)
      : input_(input), options_(options), findings_(findings), plan_(ml::PlanCluster(input)) {
    // No argument can differ between trials.
    if (input_.hyperparameters) input_.job_dir.clear();
    arguments_ = ml::FinalArguments(input_);
  }

  Json Run() {
    Json pools = Json::array();
    Json skipped = Json::array();
    for (const ml::Role role : ml::kRoles) {
      const auto first = std::find_if(plan_.replicas.begin(), plan_.replicas.end(),
                                      [&](const auto& one) { return one.id.role == role; });
      if (first == plan_.replicas.end()) {
        skipped.push_back(Json::object());
        continue;
      }
      for (Json& pool : skipped) {
        NoteSkipped(pools.size());
        pools.push_back(std::move(pool));
      }
      skipped.clear();
      pools.push_back(PoolOf(*first, pools.size()));
    }
    NoteCluster();
    return pools;
  }

 private:
  Json PoolOf(const ml::ReplicaPlan& first, size_t index) {
    const auto count = std::count_if(plan_.replicas.begin(), plan_.replicas.end(),
                                     [&](const auto& one) { return one.id.role == first.id.role; });
    findings_.Note("pool", {{"role", std::string(ml::RoleKey(first.id.role))},
                            {"count", std::to_string(count)},
                            {"machine", first.machine_type},
                            {"index", std::to_string(index)}});
    Json pool = Json::object();
    pool["machineSpec"] = MachineOf(first);
    pool["replicaCount"] = count;
    AddDisk(first.id.role, pool);
    if (plan_.is_container) {
      pool["containerSpec"] = ContainerOf(first);
    } else {
      pool["pythonPackageSpec"] = PackageOf(first);
    }
    return pool;
  }

  Json MachineOf(const ml::ReplicaPlan& replica) {
    std::string machine = replica.machine_type;
    const ml::MachineType* known = ml::DefaultCatalog().FindMachine(machine);
    if (known != nullptr && !known->equivalent.empty()) {
      findings_.Note("legacy_machine", {{"from", machine}, {"to", known->equivalent}});
      machine = known->equivalent;
    }
    const std::string offered = DefaultTables().MachineFor(machine);
    if (offered != machine) {
      findings_.Note("larger_machine", {{"from", machine}, {"to", offered}});
    }
    Json spec = {{"machineType", offered}};
    if (replica.accelerator_count > 0) {
      spec["acceleratorType"] = replica.accelerator_type;
      spec["acceleratorCount"] = replica.accelerator_count;
      if (replica.accelerator_type == kRetiredAccelerator) findings_.Note("k80");
    }
    return spec;
  }

  void AddDisk(ml::Role role, Json& pool) const {
    const auto& config = input_.Of(role).config;
    if (!config || !config->disk_config) return;
    Json disk = Json::object();
    if (!config->disk_config->boot_disk_type.empty()) {
      disk["bootDiskType"] = config->disk_config->boot_disk_type;
    }
    if (config->disk_config->boot_disk_size_gb != 0) {
      disk["bootDiskSizeGb"] = config->disk_config->boot_disk_size_gb;
    }
    if (!disk.empty()) pool["diskSpec"] = std::move(disk);
  }

  Json ContainerOf(const ml::ReplicaPlan& replica) const {
    Json container = {{"imageUri", replica.image_uri}};
    std::vector<std::string> args;
    if (const auto& config = input_.Of(replica.id.role).config) {
      if (!config->container_command.empty()) container["command"] = config->container_command;
      args = config->container_args;
    }
    args.insert(args.end(), arguments_.begin(), arguments_.end());
    if (!args.empty()) container["args"] = std::move(args);
    return container;
  }

  Json PackageOf(const ml::ReplicaPlan& replica) {
    Json package = {{"executorImageUri", ExecutorOf(replica)},
                    {"packageUris", input_.package_uris},
                    {"pythonModule", input_.python_module}};
    if (!arguments_.empty()) package["args"] = arguments_;
    return package;
  }

  std::string ExecutorOf(const ml::ReplicaPlan& replica) {
    const std::string software =
        input_.UsesContainer() ? replica.image_uri : "runtime version " + input_.runtime_version;
    if (!options_.executor_image.empty()) {
      findings_.Note("executor_image",
                     {{"software", software}, {"image", options_.executor_image}});
      return options_.executor_image;
    }
    if (input_.UsesContainer()) return PrebuiltOf(replica);
    const auto image = DefaultTables().ImageOfRuntime(input_.runtime_version,
                                                      replica.accelerator_count > 0, input_.region);
    if (!image) return "";  // refused by FindUnmigratable
    findings_.Note("runtime", {{"runtime", input_.runtime_version}, {"image", *image}});
    return *image;
  }

  std::string PrebuiltOf(const ml::ReplicaPlan& replica) {
    const auto image = DefaultTables().ImageOfPrebuilt(replica.image_uri, input_.region);
    if (!image) return replica.image_uri;
    findings_.Note("prebuilt_image", {{"from", replica.image_uri}, {"to", *image}});
    if (image->find("/pytorch-") != std::string::npos) findings_.Note("pytorch");
    return *image;
  }

  void NoteSkipped(size_t index) {
    findings_.Note("skipped_pool", {{"index", std::to_string(index)},
                                    {"role", std::string(ml::RoleKey(ml::kRoles[index]))}});
  }

  void NoteCluster() {
    findings_.Note(plan_.is_container ? "container" : "package");
    const bool is_alone = plan_.replicas.size() == 1;
    findings_.Note(is_alone ? "one_replica" : "several_replicas");
    if (!is_alone && !plan_.uses_chief) findings_.Note("master_key");
    if (!is_alone && plan_.replicas.back().id.role == ml::Role::kEvaluator) {
      findings_.Note("evaluator");
    }
  }

  ml::TrainingInput input_;
  const MigrationOptions& options_;
  Findings& findings_;
  ml::ClusterPlan plan_;
  std::vector<std::string> arguments_;  // of every replica
};

}  // namespace

Json MakePools(const ml::TrainingInput& input, const MigrationOptions& options,
               Findings& findings) {
  return PoolMaker(input, options, findings).Run();
}

}  // namespace caip::migration
