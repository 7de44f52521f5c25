#include "emulator/check/checked_trainer.h"

#include <cstdlib>
#include <utility>

#include "base/json.h"
#include "emulator/check/errors.h"
#include "emulator/scenario/built_job.h"
#include "host/process/image_map.h"

namespace caip::check {
namespace {

constexpr char kJobsOwnBucket[] = "job";

Status AddInputBuckets(const TrainerRequest& request, harness::Scenario& job) {
  for (const std::string& word : request.buckets) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Path folder = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::error_code error;
    if (name.empty() || !std::filesystem::is_directory(folder, error)) {
      return errors::NotABucketFolder(word);
    }
    if (name == kJobsOwnBucket) return errors::BucketIsTheJobs(name);
    job.buckets[name].from = std::filesystem::absolute(folder, error);
  }
  return Ok{};
}

// The files of findings run without the flags, so the job says itself what they need: the commands
// of its images, and the kind of addresses.
void AddSettings(const app::EmulatorOptions& options, harness::Scenario& job) {
  for (const char* role : {"master", "worker", "parameterServer", "evaluator"}) {
    const Json* config = Member(job.training_input, std::string(role) + "Config");
    const std::string image = config ? StringOr(*config, "imageUri") : "";
    if (const auto* command = host::FindImage(options.images, image)) job.images[image] = *command;
  }
  job.own_ports = options.addressing == app::Addressing::kPorts;
}

void AddFolders(const TrainerRequest& request, const Path& workshop,
                harness::CheckedTrainer& trainer) {
  std::error_code error;
  if (request.job.package_path) {
    trainer.source = std::filesystem::weakly_canonical(*request.job.package_path, error);
  }
  trainer.here = std::filesystem::current_path(error);
  if (const char* home = std::getenv("HOME")) trainer.home = home;
  trainer.workshop = std::filesystem::canonical(workshop, error);
}

}  // namespace

Result<CheckedJob> MakeCheckedJob(const TrainerRequest& request, const Path& workshop) {
  CheckedJob checked;
  harness::CheckedTrainer& trainer = checked.trainer;
  ASSIGN_OR_RETURN(scenario::BuiltJob built,
                   scenario::BuildJob(request.job, request.metric, workshop));
  trainer.job.training_input = std::move(built.training_input);
  trainer.job.buckets = std::move(built.buckets);
  trainer.packages = std::move(built.packages);
  RETURN_IF_ERROR(AddInputBuckets(request, trainer.job));
  ASSIGN_OR_RETURN(checked.settings, scenario::ReadSettingsOfJob(request.emulator, trainer.job));
  AddSettings(checked.settings.options, trainer.job);
  trainer.job.limits.wall = request.run_timeout;
  trainer.job.limits.no_progress = request.stall;
  trainer.job.steps.regex = request.step_regex;
  trainer.is_container = scenario::IsContainer(trainer.job.training_input);
  trainer.has_own_files =
      scenario::BringsOwnFiles(trainer.job.training_input, checked.settings.options);
  AddFolders(request, workshop, trainer);
  trainer.vm_lifetime = request.vm_lifetime;
  trainer.real_duration = request.real_duration;
  trainer.deep = request.deep;
  if (!trainer.job.training_input.contains("hyperparameters")) trainer.metric = request.metric;
  return checked;
}

}  // namespace caip::check
