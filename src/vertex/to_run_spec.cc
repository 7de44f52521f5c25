#include "vertex/to_run_spec.h"

#include "vertex/cluster.h"
#include "vertex/limits.h"
#include "vertex/study.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

constexpr double kBytesOfGb = 1ll << 30;  // as Compute Engine counts memory

run::Program ProgramOf(const WorkerPoolSpec& pool) {
  if (pool.python_package) {
    const PythonPackageSpec& package = *pool.python_package;
    const PrebuiltImage image = DescribePrebuiltImage(package.executor_image_uri);
    return run::PythonModule{.module = package.python_module,
                             .package_uris = package.package_uris,
                             .software_version = image.name,
                             .python_version = image.python,
                             .is_python_default = !image.names_python};
  }
  run::ContainerImage image{.uri = pool.container->image_uri};
  image.command = pool.container->command;
  image.args = pool.container->args;
  return image;
}

run::ReplicaGroup GroupOf(const WorkerPoolSpec& pool, size_t index, const Catalog& catalog) {
  run::ReplicaGroup group;
  group.role = PoolRole(index);
  group.count = static_cast<int>(pool.ReplicaCount());
  group.machine_type = pool.machine->machine_type;
  if (const MachineType* type = catalog.FindMachine(group.machine_type)) {
    group.vcpus = type->vcpus;
    group.memory_bytes = static_cast<int64_t>(type->memory_gb * kBytesOfGb);
  }
  if (pool.machine->HasAcceleratorType()) {
    group.accelerators.push_back({pool.machine->accelerator_type, pool.machine->accelerator_count});
  }
  if (pool.disk) group.disk = {pool.disk->boot_disk_type, pool.disk->boot_disk_size_gb};
  group.program = ProgramOf(pool);
  if (pool.container) group.program_field = PoolField(index, "container_spec.image_uri");
  return group;
}

// docs/service/vertex.md, sections 3 (Scheduling) and 4.
run::RestartPolicy PolicyOf(const Scheduling& scheduling) {
  run::RestartPolicy policy;
  policy.restarts_failing_replica = true;
  policy.restarts_whole_job =
      scheduling.restart_job_on_worker_restart && !scheduling.disable_retries;
  if (scheduling.disable_retries) {
    policy.job_retries_max = 0;
    policy.service_error_retries_max = 0;
  }
  if (scheduling.IsSpot()) {
    policy.job_restarts_after_loss_max = scheduling.disable_retries ? 0 : kSpotRestartsMax;
  }
  return policy;
}

run::Limits LimitsOf(const Scheduling& scheduling) {
  run::Limits limits;
  if (scheduling.timeout) limits.max_running = *scheduling.timeout;
  if (!scheduling.IsFlexStart()) return limits;
  const Duration wait = scheduling.max_wait.value_or(kMaxWaitDefault);
  if (wait > Duration(0)) limits.max_wait = wait;
  limits.fails_after_max_wait = true;
  return limits;
}

}  // namespace

run::RunSpec ToRunSpec(const CustomJobSpec& spec, const std::string& region,
                       const Catalog& catalog) {
  run::RunSpec run;
  for (size_t i = 0; i < spec.pools.size(); ++i) {
    if (!spec.pools[i].IsEmpty()) run.groups.push_back(GroupOf(spec.pools[i], i, catalog));
  }
  run.policy = PolicyOf(spec.scheduling);
  run.limits = LimitsOf(spec.scheduling);
  run.region = region;
  run.service_account = spec.service_account;
  run.output_directory = spec.BaseOutputDirectory();
  return run;
}

run::RunSpec ToRunSpec(const TuningJob& job, const std::string& region, const Catalog& catalog) {
  run::RunSpec run = ToRunSpec(*job.trial.spec, region, catalog);
  run.tuning = TuningSpecOf(job);
  return run;
}

}  // namespace caip::vertex
