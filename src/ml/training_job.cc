#include "ml/training_job.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/json.h"
#include "ml/cluster.h"
#include "ml/command_line.h"
#include "ml/environment.h"
#include "ml/render.h"
#include "ml/run_texts.h"
#include "ml/schema/job_json.h"

namespace caip::ml {
namespace {

// One run of the job: the job itself, or one of its trials.
class TrainingRun final : public run::ApiRun {
 public:
  TrainingRun(std::shared_ptr<const TrainingJob> job, run::RunFacts facts)
      : job_(std::move(job)), facts_(std::move(facts)), plan_(PlanCluster(job_->input())) {
    for (size_t i = 0; i < facts_.plan.size(); ++i) {
      plan_.replicas[i].address = facts_.plan[i].address;
    }
    arguments_ =
        FinalArguments(job_->input(), facts_.key.trial, facts_.values, facts_.output_directory);
    job_texts_ = RenderJobTexts(job_->input(), plan_, arguments_);
  }

  run::ReplicaSetup SetUp(const run::ReplicaFacts& facts) const override {
    return {.arguments = arguments_,
            .environment = RenderEnvironment(FactsOf(facts)),
            .directories = BootDiskDirectories(),
            .working_directory = std::string(kUserDirectory)};
  }

  // What the service's launcher writes around a Python program; containers run without it.
  std::vector<std::string> Lines(run::LoggedReplicaEvent event,
                                 const run::ReplicaFailure& failure) const override {
    if (plan_.is_container) return {};
    const TrainingInput& input = job_->input();
    switch (event) {
      case run::LoggedReplicaEvent::kBeforePackages:
        return {RunningTaskText(FactsOf({failure.replica, "", ""})),
                texts::RunningModule(input.python_module)};
      case run::LoggedReplicaEvent::kBeforeStart:
        return {texts::RunningCommand(
            PythonCommandText(input.python_version, input.python_module, arguments_))};
      case run::LoggedReplicaEvent::kTerminated:
        return {texts::TerminatedByService()};
      case run::LoggedReplicaEvent::kSucceeded:
        return {texts::ModuleCompleted(), texts::CleanedUp(), texts::TaskCompleted()};
      case run::LoggedReplicaEvent::kFailed:
        return {texts::ModuleCompleted(), texts::CleanedUp()};
    }
    return {};
  }

  std::string MetricFile() const override { return std::string(kMetricFile); }
  std::string OutputDirectory() const override {
    return JobDirOf(job_->input().job_dir, facts_.key.trial);
  }

 private:
  EnvironmentFacts FactsOf(const run::ReplicaFacts& start) const {
    return {.input = job_->input(),
            .plan = plan_,
            .replica = IdOf(start.replica),
            .job_id = facts_.key.job_id,
            .project_id = facts_.key.project,
            .trial = facts_.key.trial,
            .arguments = arguments_,
            .cloud_id = facts_.names.tenant_project,
            .host_id = facts_.names.cluster_id,
            .boot_disk = start.boot_disk,
            .path = start.path,
            .has_own_image = start.has_own_image,
            .cpus = facts_.host.cpus,
            .endpoint = facts_.host.endpoint,
            .job_texts = &job_texts_};
  }

  std::shared_ptr<const TrainingJob> job_;
  run::RunFacts facts_;
  ClusterPlan plan_;  // with addresses
  std::vector<std::string> arguments_;
  JobTexts job_texts_;
};

}  // namespace

TrainingJob::TrainingJob(TrainingInput input, run::RunSpec spec, std::string project_number)
    : ApiJob(std::move(spec)),
      input_(std::move(input)),
      project_number_(std::move(project_number)) {}

std::unique_ptr<const run::ApiRun> TrainingJob::Begin(run::RunFacts facts) const {
  return std::make_unique<TrainingRun>(shared_from_this(), std::move(facts));
}

run::Document TrainingJob::WithTrials(const run::Document& document,
                                      const run::TrialsSummary& summary) const {
  const auto changed = ml::WithTrials(document, summary);
  return changed.ok() ? *changed : document;
}

std::string TrainingJob::HostName(const run::ReplicaId& replica, const run::RunNames& names) const {
  return ml::HostName(IdOf(replica), names.cluster_id);
}

std::vector<std::string> TrainingJob::Lines(run::LoggedJobEvent event,
                                            const run::RunKey& key) const {
  switch (event) {
    case run::LoggedJobEvent::kAccepted:
      return {texts::ValidatingJob(), texts::JobValidated(), texts::JobQueued(key.job_id),
              texts::WaitingForProvisioning()};
    case run::LoggedJobEvent::kPreparing:
      return {texts::JobPreparing()};
    case run::LoggedJobEvent::kMachinesReady:
      return {texts::WaitingForProgram()};
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

std::string TrainingJob::ReplicaFailed(const run::ReplicaFailure& failure,
                                       const run::RunKey& key) const {
  // Only the service's launcher finds tracebacks, and containers run without it
  // (docs/service/replica-environment.md, section 7).
  const bool has_launcher =
      !std::holds_alternative<run::ContainerImage>(spec().GroupOf(failure.replica).program);
  const texts::ReplicaFailure shown{IdOf(failure.replica), failure.status, failure.signal,
                                    failure.out_of_memory, has_launcher ? failure.traceback : ""};
  return texts::ReplicasFailed({shown}, project_number_.empty() ? key.project : project_number_,
                               key.job_id);
}

std::string TrainingJob::OutOfStock() const { return texts::OutOfStock(spec().region); }

std::string TrainingJob::WaitedTooLong() const {
  return texts::WaitedTooLong(spec().limits.max_wait.value_or(Duration(0)));
}

std::string TrainingJob::RanTooLong() const { return texts::RanTooLong(spec().limits.max_running); }

std::string TrainingJob::TrialsFailed(const run::StudyProgress& progress, std::string_view trial,
                                      std::string_view last) const {
  return run::texts::TrialsFailed(progress, trial, last, "hyperparameters.maxFailedTrials");
}

}  // namespace caip::ml
