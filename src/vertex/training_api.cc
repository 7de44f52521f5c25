#include "vertex/training_api.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "base/json.h"
#include "google/gcs_uri.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/schema/tuning_job_json.h"
#include "vertex/to_run_spec.h"
#include "vertex/training_pipeline.h"
#include "vertex/validate/validate_tuning.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

// The form was checked by Validate.
google::GcsUri PlaceOf(const std::string& uri) {
  const auto place = google::ParseGcsUri(uri);
  return place.ok() ? *place : google::GcsUri{};
}

bool IsArriving(const std::string& uri, const std::vector<std::string>& arriving) {
  return std::find(arriving.begin(), arriving.end(), uri) != arriving.end();
}

void ProbePackages(const CustomJobSpec& spec, const std::string& account,
                   run::StorageProbe& storage, const std::vector<std::string>& arriving,
                   std::vector<FieldViolation>& found) {
  for (size_t i = 0; i < spec.pools.size(); ++i) {
    const auto& package = spec.pools[i].python_package;
    for (const std::string& uri : package ? package->package_uris : std::vector<std::string>{}) {
      const auto [bucket, object] = PlaceOf(uri);
      if (IsArriving(uri, arriving)) continue;
      if (storage.BucketExists(bucket) && storage.ObjectReadable(bucket, object)) continue;
      found.push_back(errors::PackageUnreadable(PoolField(i, "python_package_spec.package_uris"),
                                                uri, account));
    }
  }
}

void ProbeOutput(const CustomJobSpec& spec, const std::string& account, run::StorageProbe& storage,
                 std::vector<FieldViolation>& found) {
  const std::string directory = spec.BaseOutputDirectory();
  if (directory.empty()) return;
  const auto [bucket, path] = PlaceOf(directory);
  if (!storage.BucketExists(bucket)) {
    found.push_back(errors::OutputBucketMissing(bucket));
  } else if (!storage.Writable(bucket, path)) {
    found.push_back(errors::OutputUnwritable(directory, account));
  }
}

std::shared_ptr<const CustomTrainingJob> MadeJob(CustomJob job, run::RunSpec spec,
                                                 const TrainingApiOptions& options) {
  return std::make_shared<const CustomTrainingJob>(
      std::move(job), std::move(spec),
      ServiceFacts{options.project_number, options.service_account,
                   options.validation.nfs_exports});
}

std::shared_ptr<const CustomTrainingJob> MakeJob(CustomJob job, const std::string& region,
                                                 const TrainingApiOptions& options) {
  run::RunSpec spec = ToRunSpec(*job.spec, region, *options.validation.catalog);
  return MadeJob(std::move(job), std::move(spec), options);
}

std::shared_ptr<const CustomTrainingJob> MakeJob(TuningJob job, const std::string& region,
                                                 const TrainingApiOptions& options) {
  run::RunSpec spec = ToRunSpec(job, region, *options.validation.catalog);
  return MadeJob(std::move(job.trial), std::move(spec), options);
}

// The field of the request's resource that has the CustomJobSpec.
std::string_view SpecFieldOf(const run::JobRequest& request, const run::RunSpec& spec) {
  if (request.collection == kTrainingPipelines) {
    return spec.tuning ? "training_task_inputs.trial_job_spec" : "training_task_inputs";
  }
  return spec.tuning ? "trial_job_spec" : "job_spec";
}

}  // namespace

Result<run::AcceptedJob> TrainingApi::Accept(const run::JobRequest& request) const {
  assert(IsJobId(request.new_id) && "NewJobId makes the id of a job");
  if (request.collection == kTrainingPipelines) return AcceptPipeline(request);
  return request.collection == kTuningJobs ? AcceptTuningJob(request) : AcceptCustomJob(request);
}

Result<run::AcceptedJob> TrainingApi::AcceptCustomJob(const run::JobRequest& request) const {
  ASSIGN_OR_RETURN(CustomJob job, ParseCustomJob(request.body));
  RETURN_IF_ERROR(CheckCustomJob(job, request.location, options_.validation));
  run::AcceptedJob accepted;
  accepted.key = {request.project, request.new_id, "", request.location};
  accepted.document = ToDocument(job, request.location);
  accepted.job = MakeJob(std::move(job), request.location, options_);
  return accepted;
}

Result<run::AcceptedJob> TrainingApi::AcceptTuningJob(const run::JobRequest& request) const {
  ASSIGN_OR_RETURN(TuningJob job, ParseTuningJob(request.body));
  RETURN_IF_ERROR(CheckTuningJob(job, request.location, options_.validation));
  run::AcceptedJob accepted;
  accepted.key = {request.project, request.new_id, "", request.location};
  accepted.document = ToDocument(job, request.location);
  accepted.job = MakeJob(std::move(job), request.location, options_);
  return accepted;
}

// The id is that of the pipeline.
Result<run::AcceptedJob> TrainingApi::AcceptPipeline(const run::JobRequest& request) const {
  ASSIGN_OR_RETURN(TrainingPipeline pipeline, ParseTrainingPipeline(request.body));
  run::AcceptedJob accepted;
  if (IsTuningPipeline(pipeline)) {
    ASSIGN_OR_RETURN(TuningJob job, TuningJobOf(pipeline, request.location, options_.validation));
    accepted.key = {request.project, BackingTuningJobId(request.new_id), "", request.location};
    accepted.document = ToDocument(job, request.location,
                                   StoredPipeline{request.new_id, std::move(pipeline.plain)});
    accepted.job = MakeJob(std::move(job), request.location, options_);
    return accepted;
  }
  ASSIGN_OR_RETURN(CustomJob job, CustomJobOf(pipeline, request.location, options_.validation));
  accepted.key = {request.project, BackingJobId(request.new_id), "", request.location};
  accepted.document =
      ToDocument(job, request.location, StoredPipeline{request.new_id, std::move(pipeline.plain)});
  accepted.job = MakeJob(std::move(job), request.location, options_);
  return accepted;
}

Status TrainingApi::Probe(const run::AcceptedJob& accepted, const run::JobRequest& request,
                          std::vector<FieldViolation> refused) const {
  const auto& job = static_cast<const CustomTrainingJob&>(*accepted.job);
  const CustomJobSpec& spec = job.job_spec();
  const std::string& account =
      spec.service_account.empty() ? options_.service_account : spec.service_account;
  std::vector<FieldViolation> found;
  ProbePackages(spec, account, storage_, request.arriving, found);
  ProbeOutput(spec, account, storage_, found);
  std::move(refused.begin(), refused.end(), std::back_inserter(found));
  if (found.empty()) return Ok{};
  return errors::ListOfErrors(WithSpecField(std::move(found), SpecFieldOf(request, job.spec())),
                              Code::kFailedPrecondition);
}

Result<std::shared_ptr<const run::ApiJob>> TrainingApi::Open(const run::Document& document) const {
  if (IsTuningJob(document)) {
    ASSIGN_OR_RETURN(StoredTuningJob tuning, ReadTuningDocument(document));
    return std::shared_ptr<const run::ApiJob>(
        MakeJob(std::move(tuning.job), tuning.region, options_));
  }
  ASSIGN_OR_RETURN(StoredCustomJob stored, ReadDocument(document));
  return std::shared_ptr<const run::ApiJob>(
      MakeJob(std::move(stored.job), stored.region, options_));
}

// Ten hexadecimal digits in host names; the tenant project has sixteen.
run::RunNames TrainingApi::MakeNames(Random& random) const {
  run::RunNames names;
  names.cluster_id = random.Hex(10);
  names.tenant_project = "w" + random.Hex(16) + "-ml";
  return names;
}

Error TrainingApi::JobNotFound() const { return errors::JobNotFound(); }
Error TrainingApi::JobAlreadyExists() const { return errors::JobAlreadyExists(); }

}  // namespace caip::vertex
