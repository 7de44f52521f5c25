#include "emulator/scenario/built_job.h"

#include <utility>

#include "client/flag_values.h"
#include "client/job_preparation.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/scenario/errors.h"

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
void FillIn(Json& input) {
  if (!input.contains("scaleTier")) input["scaleTier"] = "BASIC";
  if (!input.contains("jobDir")) input["jobDir"] = kJobDir;
  if (!harness::TrainingJobs().RunsImage(input) && !input.contains("runtimeVersion")) {
    input["runtimeVersion"] = kDefaultRuntime;
    if (!input.contains("pythonVersion")) input["pythonVersion"] = kDefaultPython;
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

void AddOutputBucket(BuiltJob& built) {
  const auto place = client::ParseObject(built.kind->OutputDirectoryOf(built.document));
  if (place.ok()) built.buckets[place->bucket];
  built.buckets[kOwnBucket];
}

Result<BuiltJob> BuildTrainingJob(client::SubmitRequest request, const std::string& metric,
                                  const Path& workshop) {
  request.package_cache = workshop / "caches" / "sdists";
  RETURN_IF_ERROR(MakeDirectories(request.package_cache));
  ASSIGN_OR_RETURN(const client::PreparedJob prepared, PrepareForThisHost(std::move(request)));
  if (!prepared.remote_packages.empty()) {
    return errors::PackageInBucket("--packages", prepared.remote_packages.front());
  }
  BuiltJob built;
  built.kind = &harness::TrainingJobs();
  ASSIGN_OR_RETURN(built.document, InputOf(prepared));
  FillIn(built.document);
  built.kind->KeepOneTrial(metric, built.document);  // keeps the run short
  AddOutputBucket(built);
  RETURN_IF_ERROR(AddPackages(prepared, workshop, built));
  return built;
}

Result<BuiltJob> BuildVertexJob(JobWords words, const std::string& metric) {
  ASSIGN_OR_RETURN(MergedVertexJob merged, MergeVertexJob(std::move(words)));
  BuiltJob built;
  built.kind = merged.kind;
  built.document = built.kind->Complete(std::move(merged.document), {.output_directory = kJobDir});
  built.kind->KeepOneTrial(metric, built.document);
  const auto module = built.kind->PythonModuleOf(built.document);
  if (module && !module->package_uris.empty()) {
    return errors::PackageOfVertexJob(module->package_uris.front());
  }
  built.images = std::move(merged.images);
  built.warning = std::move(merged.warning);
  AddOutputBucket(built);
  return built;
}

}  // namespace

Result<Json> MergedDocument(JobWords words) {
  if (auto* submit = std::get_if<client::SubmitRequest>(&words.request)) {
    ASSIGN_OR_RETURN(const client::PreparedJob prepared, PrepareForThisHost(std::move(*submit)));
    return InputOf(prepared);
  }
  ASSIGN_OR_RETURN(MergedVertexJob merged, MergeVertexJob(std::move(words)));
  return std::move(merged.document);
}

Result<BuiltJob> BuildJob(JobWords words, const std::string& metric, const Path& workshop) {
  if (auto* submit = std::get_if<client::SubmitRequest>(&words.request)) {
    return BuildTrainingJob(std::move(*submit), metric, workshop);
  }
  return BuildVertexJob(std::move(words), metric);
}

void UseBuiltJob(BuiltJob built, harness::Scenario& scenario) {
  scenario.words.clear();
  scenario.kind = built.kind;
  scenario.document = std::move(built.document);
  scenario.buckets = std::move(built.buckets);
  for (auto& [image, command] : built.images) scenario.images[image] = std::move(command);
}

}  // namespace caip::scenario
