#include "engine/launch.h"

#include <algorithm>

#include "ml/command_line.h"
#include "ml/environment.h"
#include "ml/run_texts.h"

namespace caip::engine {
namespace {

// The launcher makes and enters it before anything else (docs/service/replica-environment.md,
// section 5).
constexpr const char* kUserDirectory = "user_dir";

std::vector<std::string> ArgumentsOf(const LaunchFacts& facts) {
  return ml::FinalArguments(facts.input, facts.key.run.trial, facts.note.hyperparameters,
                            facts.note.seen_job_dir);
}

ml::EnvironmentFacts EnvironmentOf(const LaunchFacts& facts) {
  const std::string& prefix = facts.prepared.path_prefix;
  return {.input = facts.input,
          .plan = facts.plan,
          .replica = facts.key.replica,
          .job_id = facts.key.run.job_id,
          .project_id = facts.key.run.project,
          .trial = facts.key.run.trial,
          .arguments = ArgumentsOf(facts),
          .cloud_id = facts.note.cloud_id,
          .host_id = facts.note.cluster_id,
          .boot_disk = facts.settings.boot_disk(facts.key),
          .path = prefix.empty() ? facts.settings.path : prefix + ":" + facts.settings.path,
          .cpus = facts.settings.cpus,
          .endpoint = facts.settings.endpoint,
          .job_texts = facts.job_texts};
}

// Later ones win, at the place of the first: names stay unique.
void Lay(const Environment& over, Environment& base) {
  for (const auto& variable : over) {
    const auto found = std::find_if(
        base.begin(), base.end(), [&](const auto& entry) { return entry.first == variable.first; });
    if (found == base.end()) {
      base.push_back(variable);
    } else {
      found->second = variable.second;
    }
  }
}

std::vector<std::string> CommandOf(const LaunchFacts& facts,
                                   const std::vector<std::string>& arguments) {
  if (!facts.plan.is_container) {
    return ml::PythonCommand(facts.prepared.interpreter, facts.input.python_module, arguments);
  }
  const std::string& uri = facts.plan.Of(facts.key.replica).image_uri;
  const std::vector<std::string>* command = FindImage(facts.note.images, uri);
  const auto& config = facts.input.Of(facts.key.replica.role).config;
  return ml::ContainerCommand({command ? *command : std::vector<std::string>{}, {}},
                              config ? &*config : nullptr, arguments);
}

ReplicaMachine MachineOf(const LaunchFacts& facts) {
  const ml::ReplicaPlan& plan = facts.plan.Of(facts.key.replica);
  ReplicaMachine machine{.host_name = ml::HostName(facts.key.replica, facts.note.cluster_id),
                         .region = facts.input.region,
                         .machine_type = plan.machine_type,
                         .image_uri = plan.image_uri,
                         .service_account = facts.input.service_account};
  for (const ml::ReplicaPlan& peer : facts.plan.replicas) {
    const std::string host = peer.address.substr(0, peer.address.rfind(':'));
    machine.peers.push_back({peer.id, ml::HostName(peer.id, facts.note.cluster_id), host});
    if (std::find(machine.peer_hosts.begin(), machine.peer_hosts.end(), host) ==
        machine.peer_hosts.end()) {
      machine.peer_hosts.push_back(host);
    }
  }
  return machine;
}

// Only the master's file counts (docs/service/hyperparameter-tuning.md, section 5).
std::optional<MetricSource> MetricsOf(const LaunchFacts& facts) {
  const std::string& trial = facts.key.run.trial;
  if (trial.empty() || facts.key.replica != run::ReplicaId{}) return std::nullopt;
  return MetricSource{
      .tag = ml::MetricTagOf(facts.input),
      .file = facts.settings.boot_disk(facts.key) + "/" + std::string(ml::kMetricFile),
      .job_dir = ml::JobDirOf(facts.input.job_dir, trial)};
}

}  // namespace

std::vector<DeviceRequest> DeviceRequestsOf(const ml::ClusterPlan& plan) {
  std::vector<DeviceRequest> requests;
  for (const ml::ReplicaPlan& replica : plan.replicas) {
    if (replica.accelerator_count > 0) {
      requests.push_back({replica.id, replica.accelerator_type, replica.accelerator_count});
    }
  }
  if (!plan.tpu_type.empty()) requests.push_back({{}, plan.tpu_type, plan.tpu_count});
  return requests;
}

ml::JobTexts MakeJobTexts(const RunKey& run, const ml::TrainingInput& input,
                          const ml::ClusterPlan& plan, const RunNote& note) {
  return ml::RenderJobTexts(
      input, plan, ml::FinalArguments(input, run.trial, note.hyperparameters, note.seen_job_dir));
}

ReplicaLaunch MakeLaunch(const LaunchFacts& facts, bool fresh_disk) {
  const ml::EnvironmentFacts environment = EnvironmentOf(facts);
  ReplicaLaunch launch;
  launch.key = facts.key;
  launch.machine = MachineOf(facts);
  launch.argv = CommandOf(facts, environment.arguments);
  launch.environment = ml::RenderEnvironment(environment);
  Lay(facts.devices, launch.environment);
  Lay(facts.prepared.environment, launch.environment);
  launch.user_directories = ml::BootDiskDirectories();
  launch.working_directory = kUserDirectory;
  launch.fresh_disk = fresh_disk;
  launch.metrics = MetricsOf(facts);
  return launch;
}

std::string TaskLine(const LaunchFacts& facts) { return ml::RunningTaskText(EnvironmentOf(facts)); }

std::string CommandLine(const LaunchFacts& facts) {
  return ml::texts::RunningCommand(ml::PythonCommandText(
      facts.input.python_version, facts.input.python_module, ArgumentsOf(facts)));
}

}  // namespace caip::engine
