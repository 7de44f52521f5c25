#include "vertex/custom_training_job.h"

#include <utility>

#include "base/text.h"
#include "vertex/cluster.h"
#include "vertex/document.h"
#include "vertex/environment.h"
#include "vertex/run_texts.h"
#include "vertex/study.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kBucketsAt = "/gcs";  // docs/service/vertex.md, section 6

// One run of the job.
class CustomRun final : public run::ApiRun {
 public:
  CustomRun(std::shared_ptr<const CustomTrainingJob> job, run::RunFacts facts)
      : job_(std::move(job)), facts_(std::move(facts)) {}

  // The arguments of a container are part of its program.
  run::ReplicaSetup SetUp(const run::ReplicaFacts& facts) const override {
    return {.arguments = ArgumentsOf(facts.replica),
            .environment = RenderEnvironment(FactsOf(facts)),
            .directories = BootDiskDirectories(),
            .working_directory = std::string(kUserDirectory),
            .log_reader =
                IsContainer(facts.replica) ? run::LogReader::kContainer : run::LogReader::kLauncher,
            .buckets_at = std::string(kBucketsAt),
            .mounts = MountsOf(facts.replica)};
  }

  // What the service's launcher writes around a package's module; containers run without it.
  std::vector<std::string> Lines(run::LoggedReplicaEvent event,
                                 const run::ReplicaFailure& failure) const override {
    const WorkerPoolSpec& pool = job_->job_spec().pools.at(PoolOf(failure.replica));
    if (!pool.python_package) return {};
    switch (event) {
      case run::LoggedReplicaEvent::kBeforePackages:
        return LinesBeforePackages(failure.replica, pool.python_package->python_module);
      case run::LoggedReplicaEvent::kBeforeStart:
        return {texts::RunningCommand(CommandOf(failure.replica))};
      case run::LoggedReplicaEvent::kTerminated:
        return {texts::TerminatedByService()};
      case run::LoggedReplicaEvent::kSucceeded:
        return {texts::TaskSucceeded()};
      case run::LoggedReplicaEvent::kFailed:
        return {texts::CommandFailed(CommandOf(failure.replica), failure.status, failure.signal),
                texts::TaskFailed(failure.status)};
    }
    return {};
  }

  std::string OutputDirectory() const override {
    const std::string base = job_->job_spec().BaseOutputDirectory();
    return base.empty() || facts_.key.trial.empty() ? base : base + facts_.key.trial + "/";
  }
  std::string MetricFile() const override { return std::string(kMetricFile); }

 private:
  bool IsContainer(const run::ReplicaId& replica) const {
    return job_->job_spec().pools.at(PoolOf(replica)).container.has_value();
  }

  // The settings may have changed since the job was created.
  std::vector<run::ShownDirectory> MountsOf(const run::ReplicaId& replica) const {
    std::vector<run::ShownDirectory> mounts;
    for (const NfsMount& mount : job_->job_spec().pools.at(PoolOf(replica)).nfs_mounts) {
      mounts.push_back({DirectoryOf(mount, job_->service().nfs_exports).value_or(""),
                        PlaceOf(mount).value_or("")});
    }
    return mounts;
  }

  // A trial's values come last, in every pool.
  std::vector<std::string> ArgumentsOf(const run::ReplicaId& replica) const {
    const auto& package = job_->job_spec().pools.at(PoolOf(replica)).python_package;
    std::vector<std::string> arguments = package ? package->args : std::vector<std::string>{};
    if (!facts_.key.IsTrial() || !job_->spec().tuning) return arguments;
    for (std::string& word : TrialArguments(job_->spec().tuning->study.space, facts_.values)) {
      arguments.push_back(std::move(word));
    }
    return arguments;
  }

  // With the service's name of the interpreter, whatever its path is here.
  std::vector<std::string> CommandOf(const run::ReplicaId& replica) const {
    std::vector<std::string> command = {
        "python3", "-m", job_->job_spec().pools.at(PoolOf(replica)).python_package->python_module};
    for (std::string& argument : ArgumentsOf(replica)) command.push_back(std::move(argument));
    return command;
  }

  // Only the first pool's replica has the address that it updates.
  std::vector<std::string> LinesBeforePackages(const run::ReplicaId& replica,
                                               const std::string& module) const {
    std::vector<std::string> lines;
    if (PoolOf(replica) == 0) {
      lines.push_back(
          texts::MasterAddressUpdated(vertex::HostName(replica, facts_.names.cluster_id)));
    }
    lines.push_back(texts::RunningLauncher());
    lines.push_back(RunningTaskText(FactsOf({replica, "", ""})));
    lines.push_back(texts::RunningModule(module));
    return lines;
  }

  std::string OutputSeen() const {
    const std::string& seen = facts_.output_directory;
    if (seen.empty()) return job_->job_spec().BaseOutputDirectory();
    return seen.ends_with('/') ? seen : seen + "/";
  }

  EnvironmentFacts FactsOf(const run::ReplicaFacts& start) const {
    const std::string& own_account = job_->job_spec().service_account;
    return {.spec = job_->job_spec(),
            .plan = facts_.plan,
            .replica = start.replica,
            .job_id = facts_.key.job_id,
            .project_id = facts_.key.project,
            .project_number = job_->ProjectOf(facts_.key),
            .region = job_->spec().region,
            .service_account = own_account.empty() ? job_->service().service_account : own_account,
            .trial = facts_.key.trial,
            .metric_tag = job_->spec().tuning ? job_->spec().tuning->metric_tag : "",
            .arguments = ArgumentsOf(start.replica),
            .output_directory = OutputSeen(),
            .cloud_id = facts_.names.tenant_project,
            .host_id = facts_.names.cluster_id,
            .boot_disk = start.boot_disk,
            .path = start.path,
            .has_own_image = start.has_own_image,
            .cpus = facts_.host.cpus,
            .endpoint = facts_.host.endpoint};
  }

  std::shared_ptr<const CustomTrainingJob> job_;
  run::RunFacts facts_;
};

}  // namespace

CustomTrainingJob::CustomTrainingJob(CustomJob job, run::RunSpec run_spec, ServiceFacts service)
    : ApiJob(std::move(run_spec)), job_(std::move(job)), service_(std::move(service)) {}

std::string CustomTrainingJob::ProjectOf(const run::RunKey& key) const {
  return service_.project_number.empty() ? key.project : service_.project_number;
}

std::unique_ptr<const run::ApiRun> CustomTrainingJob::Begin(run::RunFacts facts) const {
  return std::make_unique<CustomRun>(shared_from_this(), std::move(facts));
}

run::Document CustomTrainingJob::WithTrials(const run::Document& document,
                                            const run::TrialsSummary& summary) const {
  return vertex::WithTrials(document, summary.trials);
}

std::string CustomTrainingJob::TaskName(const run::ReplicaId& replica) const {
  return vertex::ReplicaName(replica);
}

std::string CustomTrainingJob::ReplicaName(const run::ReplicaId& replica) const {
  return vertex::ReplicaName(replica);
}

std::string CustomTrainingJob::HostName(const run::ReplicaId& replica,
                                        const run::RunNames& names) const {
  return vertex::HostName(replica, names.cluster_id);
}

std::vector<std::string> CustomTrainingJob::Lines(run::LoggedJobEvent event,
                                                  const run::RunKey&) const {
  switch (event) {
    case run::LoggedJobEvent::kAccepted:
      return {texts::WaitingForProvisioning()};
    case run::LoggedJobEvent::kPreparing:
      return {texts::ProvisioningFramework(), texts::SettingUp()};
    case run::LoggedJobEvent::kMachinesReady:
      return {texts::WaitingForProgram(), texts::JobPreparing()};
    case run::LoggedJobEvent::kRunning:
      return {texts::JobRunning()};
    case run::LoggedJobEvent::kTearingDown:
      return {texts::TearingDown()};
    case run::LoggedJobEvent::kTornDown:
      return {texts::TornDown()};
    case run::LoggedJobEvent::kSucceeded:
      return {texts::JobCompleted()};
    case run::LoggedJobEvent::kFailed:
      return {texts::JobFailed()};
    case run::LoggedJobEvent::kCancelled:
      return {texts::JobCancelled()};
  }
  return {};
}

// One entry for each line that is not blank.
std::vector<std::string> CustomTrainingJob::ErrorLines(const std::string& message) const {
  std::vector<std::string> lines;
  for (std::string& line : Split(message, '\n')) {
    if (!Trim(line).empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// A lost machine means that no attempt was left. With Spot machines, the region has none.
std::string CustomTrainingJob::ReplicaFailed(const run::ReplicaFailure& failure,
                                             const run::RunKey& key) const {
  if (failure.machine_lost) {
    return job_spec().scheduling.IsSpot() ? OutOfStock() : texts::InternalError();
  }
  if (failure.out_of_memory) return texts::LowOnMemory(failure.replica.role);
  return texts::ReplicaFailed(ReplicaName(failure.replica), failure, ProjectOf(key), key.job_id);
}

std::string CustomTrainingJob::CouldNotStart(const run::ReplicaId& replica, std::string_view reason,
                                             const run::RunKey& key) const {
  return texts::CouldNotStart(ReplicaName(replica), reason, ProjectOf(key), key.job_id);
}

std::string CustomTrainingJob::OutOfStock() const { return texts::OutOfStock(spec().region); }

std::string CustomTrainingJob::WaitedTooLong() const {
  return texts::WaitedTooLong(spec().limits.max_wait.value_or(Duration(0)));
}

std::string CustomTrainingJob::RanTooLong() const {
  return texts::RanTooLong(spec().limits.max_running);
}

std::string CustomTrainingJob::TrialsFailed(const run::StudyProgress& progress,
                                            std::string_view trial, std::string_view last) const {
  return run::texts::TrialsFailed(progress, trial, last, "maxFailedTrialCount");
}

}  // namespace caip::vertex
