#include "emulator/cli/checked_trainer.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "emulator/app/options.h"
#include "emulator/cli/gcloud_properties.h"
#include "emulator/cli/gcloud_values.h"
#include "emulator/cli/packaging.h"

namespace caip::cli {
namespace {

constexpr char kBucket[] = "job";
constexpr char kJobDir[] = "gs://job/out";

Error Usage(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

// What need not be said for a check, and must be for the service.
void FillIn(Json& input, const std::string& metric) {
  if (!input.contains("scaleTier")) input["scaleTier"] = "BASIC";
  if (!input.contains("jobDir")) input["jobDir"] = kJobDir;
  if (!IsContainer(input) && !input.contains("runtimeVersion")) {
    input["runtimeVersion"] = kPlainRuntime;
    if (!input.contains("pythonVersion")) input["pythonVersion"] = kPlainPython;
  }
  if (Json* tuning = input.contains("hyperparameters") ? &input["hyperparameters"] : nullptr) {
    (*tuning)["maxTrials"] = 1;  // a session is short
    (*tuning)["maxParallelTrials"] = 1;
    tuning->erase("resumePreviousJobId");
    if (!metric.empty()) (*tuning)["hyperparameterMetricTag"] = metric;
  }
}

Status AddBuckets(const CheckCommand& command, harness::Scenario& job) {
  for (const std::string& word : command.buckets) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Path folder = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::error_code error;
    if (name.empty() || !std::filesystem::is_directory(folder, error)) {
      return Usage("--bucket: '" + word + "' is not NAME=FOLDER with a folder that is there");
    }
    if (name == kBucket) return Usage("--bucket: the bucket 'job' is the job's own");
    job.buckets[name].from = std::filesystem::absolute(folder, error);
  }
  const auto place = ParseObject(StringOr(job.training_input, "jobDir"));
  if (place.ok()) job.buckets[place->bucket];
  job.buckets[kBucket];
  return Ok{};
}

// The archives become objects under the URIs that the job names.
Status AddPackages(const PackageFiles& files, harness::Scenario& job) {
  Json* uris =
      job.training_input.contains("packageUris") ? &job.training_input["packageUris"] : nullptr;
  if (!uris) return Ok{};
  for (const Json& uri : *uris) {
    ASSIGN_OR_RETURN(const ObjectName name, ParseObject(uri.get<std::string>()));
    const auto file = std::find_if(files.local.begin(), files.local.end(), [&](const Path& path) {
      return path.filename() == Path(name.object).filename();
    });
    if (file == files.local.end()) continue;
    ASSIGN_OR_RETURN(job.buckets[name.bucket].objects[name.object], ReadFile(*file));
  }
  return Ok{};
}

Status CheckRemote(const PackageFiles& files) {
  if (files.remote.empty()) return Ok{};
  return Usage("--packages: '" + files.remote.front() +
               "' is in a bucket; a check needs the archive on this host");
}

SubmitCommand OfBuiltPackages(SubmitCommand submit, const PackageFiles& files) {
  submit.packages = files.remote;
  for (const Path& file : files.local) submit.packages.push_back(file.string());
  return submit;
}

}  // namespace

std::string WithoutClientsName(const std::string& said) {
  return ReplaceAll(std::string(Trim(said)), "ERROR: (caip.jobs.submit.training) ", "");
}

Result<Json> MergedInput(SubmitCommand submit) {
  submit.flags.job = "check";
  submit.dry_run = true;
  submit.validate_only = submit.stream_logs = submit.async = false;
  submit.gcloud.project = submit.gcloud.project.value_or("check");
  submit.gcloud.user_output_enabled = true;
  submit.package_path.reset();
  if (!submit.flags.region && !GcloudProperty(submit.gcloud, "compute", "region")) {
    submit.flags.region = "us-central1";
  }
  submit.staging_bucket = kBucket;
  std::string out;
  std::string err;
  const Io io{[&out](std::string_view text) { out += text; },
              [&err](std::string_view text) { err += text; }, false, false};
  if (RunSubmit(submit, {io, nullptr, nullptr}) != 0) return Usage(WithoutClientsName(err));
  ASSIGN_OR_RETURN(const Json job, ParseJson(out));
  const Json* input = Member(job, "trainingInput");
  if (input) return *input;
  return Usage("the job has no trainingInput");
}

bool IsContainer(const Json& input) {
  const Json* master = Member(input, "masterConfig");
  return master && !StringOr(*master, "imageUri").empty();
}

Result<harness::CheckedTrainer> TrainerOf(const CheckCommand& command, const Path& workshop) {
  harness::CheckedTrainer trainer;
  PackageRequest request{command.submit.packages, command.submit.package_path, {}};
  request.cache = workshop / "caches" / "sdists";
  RETURN_IF_ERROR(MakeDirectories(request.cache));
  ASSIGN_OR_RETURN(const PackageFiles files, CollectPackages(request));
  RETURN_IF_ERROR(CheckRemote(files));
  ASSIGN_OR_RETURN(trainer.job.training_input, MergedInput(OfBuiltPackages(command.submit, files)));
  FillIn(trainer.job.training_input, command.metric);
  RETURN_IF_ERROR(AddBuckets(command, trainer.job));
  RETURN_IF_ERROR(AddPackages(files, trainer.job));
  ASSIGN_OR_RETURN(const app::EmulatorOptions options,
                   app::ReadOptions(command.submit.emulator, workshop));
  trainer.job.images = options.images;
  if (options.storage_view == app::StorageView::kPath) {
    trainer.job.semantics = harness::Semantics::kPosix;
  }
  if (command.submit.emulator.seed) trainer.job.seed = options.seed;
  trainer.job.limits.wall = command.run_timeout;
  trainer.job.limits.no_progress = command.stall;
  trainer.job.step_regex = command.step_regex;
  trainer.job.own_ports = options.addressing == app::Addressing::kPorts;
  trainer.is_container = IsContainer(trainer.job.training_input);
  if (command.submit.package_path) {
    std::error_code error;
    trainer.source = std::filesystem::weakly_canonical(*command.submit.package_path, error);
  }
  for (const Path& file : files.local) {  // which are gone with `files`
    const Path kept = workshop / "packages" / file.filename();
    RETURN_IF_ERROR(MakeDirectories(kept.parent_path()));
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    RETURN_IF_ERROR(WriteFile(kept, bytes));
    trainer.packages.push_back(kept);
  }
  trainer.vm_lifetime = command.vm_lifetime;
  trainer.real_duration = command.real_duration;
  trainer.deep = command.deep;
  if (!trainer.job.training_input.contains("hyperparameters")) trainer.metric = command.metric;
  std::error_code error;
  trainer.here = std::filesystem::current_path(error);
  if (const char* home = std::getenv("HOME")) trainer.home = home;
  trainer.workshop = std::filesystem::canonical(workshop, error);
  return trainer;
}

}  // namespace caip::cli
