#include "emulator/check/checked_trainer.h"

#include <cstdlib>
#include <utility>

#include "base/json.h"
#include "emulator/app/settings/options.h"
#include "emulator/check/errors.h"
#include "emulator/scenario/built_job.h"

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

// Takes images, storage, addresses and seed from the flags of the emulator.
Status AddEmulatorOptions(const TrainerRequest& request, const Path& workshop,
                          harness::Scenario& job) {
  ASSIGN_OR_RETURN(const app::EmulatorOptions options,
                   app::ReadOptions(request.emulator, workshop));
  job.images = options.images;
  if (options.storage_view == app::StorageView::kPath) job.semantics = harness::Semantics::kPosix;
  if (request.emulator.Has("seed")) job.seed = options.seed;
  job.own_ports = options.addressing == app::Addressing::kPorts;
  return Ok{};
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

Result<harness::CheckedTrainer> MakeCheckedTrainer(const TrainerRequest& request,
                                                   const Path& workshop) {
  harness::CheckedTrainer trainer;
  ASSIGN_OR_RETURN(scenario::BuiltJob built,
                   scenario::BuildJob(request.job, request.metric, workshop));
  trainer.job.training_input = std::move(built.training_input);
  trainer.job.buckets = std::move(built.buckets);
  trainer.packages = std::move(built.packages);
  RETURN_IF_ERROR(AddInputBuckets(request, trainer.job));
  RETURN_IF_ERROR(AddEmulatorOptions(request, workshop, trainer.job));
  trainer.job.limits.wall = request.run_timeout;
  trainer.job.limits.no_progress = request.stall;
  trainer.job.step_regex = request.step_regex;
  trainer.is_container = scenario::IsContainer(trainer.job.training_input);
  AddFolders(request, workshop, trainer);
  trainer.vm_lifetime = request.vm_lifetime;
  trainer.real_duration = request.real_duration;
  trainer.deep = request.deep;
  if (!trainer.job.training_input.contains("hyperparameters")) trainer.metric = request.metric;
  return trainer;
}

}  // namespace caip::check
