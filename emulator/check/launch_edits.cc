#include "emulator/check/launch_edits.h"

#include "base/json.h"
#include "host/watch/other_host.h"
#include "ml/environment.h"

namespace caip::check {
namespace {

using engine::ReplicaLaunch;

constexpr char kTrial[] = "1";

// Gives the new name the address of the machine. Programs look up their own name.
void AddHostName(const std::string& name, ReplicaLaunch& launch) {
  for (const engine::ReplicaPeer& peer : launch.machine.peers) {
    if (peer.replica == launch.key.replica)
      launch.isolation->hosts += peer.host + " " + name + "\n";
  }
}

// Gives the replica another host name, home and current directory.
void MoveToHost(const std::string& to, ReplicaLaunch& launch) {
  const std::string home = "home/" + to;
  for (auto& [name, value] : launch.environment) {
    if (name == "HOSTNAME") value = to;
    if (name == "HOME") value = (Path(value).parent_path() / home).string();
  }
  launch.user_directories.push_back(home);
  launch.working_directory = to;
  if (launch.isolation) {
    launch.machine.host_name = to;
    AddHostName(to, launch);
    return;
  }
  launch.program = run::LocalCommand{host::OnHost(to, launch.Argv())};
  launch.arguments.clear();
}

void NameTrialIn(std::string& tf_config) {
  auto config = ParseJson(tf_config);
  if (!config.ok() || !Member(*config, "task")) return;
  (*config)["task"]["trial"] = kTrial;
  tf_config = PythonJson(*config);
}

// Gives a replica of a job without tuning what the first trial of a tuning job gets
// (docs/service/hyperparameter-tuning.md, section 5).
void MakeTrial(const std::string& tag, const std::string& job_dir, const std::string& boot_disk,
               ReplicaLaunch& launch) {
  if (launch.metrics) return;
  const std::string file = boot_disk + "/" + std::string(ml::kMetricFile);
  for (auto& [name, value] : launch.environment) {
    if (name == "TF_CONFIG") NameTrialIn(value);
  }
  launch.environment.emplace_back("CLOUD_ML_TRIAL_ID", kTrial);
  launch.environment.emplace_back("CLOUD_ML_HP_METRIC_TAG", tag);
  launch.environment.emplace_back("CLOUD_ML_HP_METRIC_FILE", file);
  if (launch.key.replica == launch.machine.peers.front().replica) {  // only the lead's counts
    launch.metrics = engine::MetricSource{tag, file, job_dir};
  }
}

}  // namespace

scenario::LaunchEditor LaunchEditorOf(const harness::RunPlan& plan) {
  return [&plan](ReplicaLaunch& launch, const std::string& boot_disk) {
    if (!plan.metric.empty()) {
      const harness::Scenario& job = plan.scenario;
      MakeTrial(plan.metric, job.kind->OutputDirectoryOf(job.document), boot_disk, launch);
    }
    if (!plan.tf_config) {
      std::erase_if(launch.environment,
                    [](const auto& variable) { return variable.first == "TF_CONFIG"; });
    }
    if (!plan.moved_to.empty()) MoveToHost(plan.moved_to, launch);
  };
}

}  // namespace caip::check
