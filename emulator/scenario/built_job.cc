#include "emulator/scenario/built_job.h"

#include <utility>

#include "client/flag_values.h"
#include "client/job_preparation.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/scenario/errors.h"
#include "emulator/scenario/submission.h"

namespace caip::scenario {
namespace {

constexpr char kOwnBucket[] = "job";

Result<client::PreparedJob> PrepareForThisHost(client::SubmitRequest request) {
  request.flags.job = "check";
  request.gcloud.project = request.gcloud.project.value_or("check");
  if (!request.flags.region && !client::GcloudProperty(request.gcloud, "compute", "region")) {
    request.flags.region = "us-central1";
  }
  request.staging_bucket = kOwnBucket;
  const app::StopOnInterrupt interrupt;
  client::PreparationOptions options;
  options.stop = interrupt.token();
  return client::PrepareJob(request, options);
}

Result<Json> InputOf(const client::PreparedJob& prepared) {
  const Json* input = Member(prepared.job, "trainingInput");
  if (!input) return errors::NoTrainingInput();
  return *input;
}

// Fills in the fields that the service requires and a run on this host does not need.
void FillIn(Json& input, const std::string& metric) {
  if (!input.contains("scaleTier")) input["scaleTier"] = "BASIC";
  if (!input.contains("jobDir")) input["jobDir"] = kJobDir;
  if (!IsContainer(input) && !input.contains("runtimeVersion")) {
    input["runtimeVersion"] = kDefaultRuntime;
    if (!input.contains("pythonVersion")) input["pythonVersion"] = kDefaultPython;
  }
  if (Json* tuning = input.contains("hyperparameters") ? &input["hyperparameters"] : nullptr) {
    (*tuning)["maxTrials"] = 1;  // keeps the run short
    (*tuning)["maxParallelTrials"] = 1;
    tuning->erase("resumePreviousJobId");
    if (!metric.empty()) (*tuning)["hyperparameterMetricTag"] = metric;
  }
}

// Adds the archives as objects under the URIs that the job names, and copies them to the workshop.
Status AddPackages(const client::PreparedJob& prepared, const Path& workshop, BuiltJob& built) {
  for (const client::StagedFile& file : prepared.staged) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file.file));
    const Path kept = workshop / "packages" / file.file.filename();
    RETURN_IF_ERROR(MakeDirectories(kept.parent_path()));
    RETURN_IF_ERROR(WriteFile(kept, bytes));
    built.packages.push_back(kept);
    built.buckets[file.bucket].objects[file.object] = bytes;
  }
  return Ok{};
}

}  // namespace

Result<Json> MergedInput(client::SubmitRequest request) {
  ASSIGN_OR_RETURN(const client::PreparedJob prepared, PrepareForThisHost(std::move(request)));
  return InputOf(prepared);
}

Result<BuiltJob> BuildJob(client::SubmitRequest request, const std::string& metric,
                          const Path& workshop) {
  request.package_cache = workshop / "caches" / "sdists";
  RETURN_IF_ERROR(MakeDirectories(request.package_cache));
  ASSIGN_OR_RETURN(const client::PreparedJob prepared, PrepareForThisHost(std::move(request)));
  if (!prepared.remote_packages.empty()) {
    return errors::PackageInBucket(prepared.remote_packages.front());
  }
  BuiltJob built;
  ASSIGN_OR_RETURN(built.training_input, InputOf(prepared));
  FillIn(built.training_input, metric);
  const auto place = client::ParseObject(StringOr(built.training_input, "jobDir"));
  if (place.ok()) built.buckets[place->bucket];
  built.buckets[kOwnBucket];
  RETURN_IF_ERROR(AddPackages(prepared, workshop, built));
  return built;
}

bool IsContainer(const Json& input) {
  const Json* master = Member(input, "masterConfig");
  return master && !StringOr(*master, "imageUri").empty();
}

}  // namespace caip::scenario
