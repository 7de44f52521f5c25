#include "ml/to_run_spec.h"

#include <algorithm>

#include "ml/cluster.h"
#include "ml/environment.h"
#include "ml/study.h"
#include "ml/validate/violations.h"

namespace caip::ml {
namespace {

constexpr double kBytesOfGb = 1ll << 30;   // as Compute Engine counts memory
constexpr char kPrebuiltPython[] = "3.7";  // no runtime version has a newer one

// "gcr.io/cloud-ml-public/training/pytorch-gpu.1-7:latest" has "pytorch-gpu.1-7", which `runtimes`
// of the configuration may name.
run::PythonModule ModuleInContainer(const TrainingInput& input, const ReplicaPlan& replica) {
  const std::string name = replica.image_uri.substr(replica.image_uri.rfind('/') + 1);
  return {input.python_module, input.package_uris, name.substr(0, name.find_first_of(":@")),
          input.python_version.empty() ? kPrebuiltPython : input.python_version,
          input.python_version.empty()};
}

run::Program ProgramOf(const TrainingInput& input, const ReplicaPlan& replica,
                       const ValidationOptions& options) {
  if (!input.UsesContainer()) {
    return run::PythonModule{input.python_module, input.package_uris, input.runtime_version,
                             PythonVersionOf(input, options), input.python_version.empty()};
  }
  if (RunsModuleInContainer(input)) return ModuleInContainer(input, replica);
  run::ContainerImage image{replica.image_uri};
  if (const auto& config = input.Of(replica.id.role).config) {
    image.command = config->container_command;
    image.args = config->container_args;
  }
  return image;
}

run::ReplicaGroup GroupOf(const TrainingInput& input, const ReplicaPlan& replica,
                          const ValidationOptions& options) {
  run::ReplicaGroup group;
  group.role = RoleKey(replica.id.role);
  group.count = 0;
  group.machine_type = replica.machine_type;
  if (const MachineType* type = options.catalog->FindMachine(replica.machine_type)) {
    group.vcpus = type->vcpus;
    group.memory_bytes = static_cast<int64_t>(type->memory_gb * kBytesOfGb);
  }
  if (replica.accelerator_count > 0) {
    group.accelerators.push_back({replica.accelerator_type, replica.accelerator_count});
  }
  const auto& config = input.Of(replica.id.role).config;
  if (config && config->disk_config) {
    group.disk = {config->disk_config->boot_disk_type, config->disk_config->boot_disk_size_gb};
  }
  group.program = ProgramOf(input, replica, options);
  // Roles without an image of their own run the master's.
  if (config && !config->image_uri.empty()) {
    group.program_field = RoleField(replica.id.role, "config.image_uri");
  }
  return group;
}

bool HasGroup(const run::RunSpec& spec, Role role) {
  return std::any_of(spec.groups.begin(), spec.groups.end(),
                     [&](const run::ReplicaGroup& group) { return group.role == RoleKey(role); });
}

run::TuningSpec TuningOf(const TrainingInput& input) {
  const HyperparameterSpec& asked = *input.hyperparameters;
  const run::StudyProgress start = ProgressAtTheStart(asked);
  return {.study = StudyOf(asked),
          .metric_tag = MetricTagOf(input),
          .max_trials = start.max_trials,
          .max_parallel = start.max_parallel,
          .max_failed = start.max_failed,
          .stops_early = asked.enable_trial_early_stopping,
          .resumed_job = asked.resume_previous_job_id};
}

}  // namespace

run::RunSpec ToRunSpec(const TrainingInput& input, const ValidationOptions& options) {
  run::RunSpec spec;
  const ClusterPlan plan = PlanCluster(input);
  for (const ReplicaPlan& replica : plan.replicas) {
    if (replica.id.index == 0) spec.groups.push_back(GroupOf(input, replica, options));
    ++spec.groups.back().count;
  }
  for (const Role role : kRoles) {
    const auto& config = input.Of(role).config;
    if (!config || config->image_uri.empty() || HasGroup(spec, role)) continue;
    if (RunsModuleInContainer(input)) continue;
    spec.idle_programs.push_back(
        {RoleField(role, "config.image_uri"), run::ContainerImage{config->image_uri}});
  }
  // The master drives the TPU, which is a node beside the cluster.
  if (!plan.tpu_type.empty()) {
    spec.groups.front().accelerators.push_back({plan.tpu_type, plan.tpu_count});
  }
  if (const auto& scheduling = input.scheduling) {
    spec.policy.restarts_whole_job = scheduling->resilient_to_worker_restart;
    spec.limits.max_wait = scheduling->max_wait_time;
    if (scheduling->max_running_time) spec.limits.max_running = *scheduling->max_running_time;
    spec.priority = scheduling->priority;
  }
  spec.region = input.region;
  spec.service_account = input.service_account;
  spec.output_directory = input.job_dir;
  if (input.hyperparameters) spec.tuning = TuningOf(input);
  return spec;
}

}  // namespace caip::ml
