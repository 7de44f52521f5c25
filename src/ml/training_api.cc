#include "ml/training_api.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.h"
#include "google/errors.h"
#include "google/gcs_uri.h"
#include "ml/environment.h"
#include "ml/errors.h"
#include "ml/job_id.h"
#include "ml/render.h"
#include "ml/schema/job_json.h"
#include "ml/to_run_spec.h"

namespace caip::ml {
namespace {

// The form was checked by Validate.
google::GcsUri PlaceOf(const std::string& uri) {
  const auto place = google::ParseGcsUri(uri);
  return place.ok() ? *place : google::GcsUri{};
}

std::optional<Error> ProbeJobDir(const TrainingInput& input, const std::string& service_account,
                                 run::StorageProbe& storage) {
  if (input.job_dir.empty()) return std::nullopt;
  const auto [bucket, path] = PlaceOf(input.job_dir);
  if (!storage.BucketExists(bucket)) return errors::JobDirBucketMissing(bucket);
  if (!storage.Writable(bucket, path)) {
    return errors::JobDirUnwritable(input.job_dir, service_account);
  }
  return std::nullopt;
}

std::optional<Error> ProbePackages(const TrainingInput& input, const std::string& service_account,
                                   run::StorageProbe& storage,
                                   const std::vector<std::string>& arriving) {
  for (const std::string& uri : input.package_uris) {
    if (std::find(arriving.begin(), arriving.end(), uri) != arriving.end()) continue;
    const auto [bucket, object] = PlaceOf(uri);
    if (!storage.BucketExists(bucket) || !storage.ObjectReadable(bucket, object)) {
      return errors::PackagesUnreadable(service_account);
    }
  }
  return std::nullopt;
}

// The parameter as a study uses it. One missing bound of a range is 0, and the bounds of other
// types are ignored (docs/service/hyperparameter-tuning.md, section 8).
ParameterSpec NormalizedParameter(ParameterSpec parameter) {
  if (parameter.type == "DOUBLE" || parameter.type == "INTEGER") {
    parameter.min_value = parameter.min_value.value_or(0);
    parameter.max_value = parameter.max_value.value_or(0);
  } else {
    parameter.min_value.reset();
    parameter.max_value.reset();
  }
  return parameter;
}

// The parameters as the API writes them, which leaves out defaults: equal texts mean equal
// parameters.
std::string ParamsText(const TrainingInput& input) {
  TrainingInput normalized;
  std::vector<ParameterSpec>& params = normalized.hyperparameters.emplace().params;
  for (const ParameterSpec& parameter : input.hyperparameters->params) {
    params.push_back(NormalizedParameter(parameter));
  }
  return CompactJson(ToSnakeCaseJson(normalized));
}

bool Minimizes(const TrainingInput& input) { return input.hyperparameters->goal == "MINIMIZE"; }

// Checks that the job whose study is continued exists, has ended, and has the same parameters.
// Another rule reports an id that is not valid.
Status CheckResumption(const TrainingInput& input, const run::JobRequest& request) {
  if (!input.hyperparameters) return Ok{};
  const std::string& id = input.hyperparameters->resume_previous_job_id;
  if (id.empty() || !IsJobId(id)) return Ok{};
  const auto earlier = request.find(id);
  if (!earlier.ok() && earlier.error().code != Code::kNotFound) return earlier.error();
  if (!earlier.ok()) return errors::NotResumable({errors::ResumedMissing(id)});
  ASSIGN_OR_RETURN(const Job job, RenderJob(*earlier));
  const auto& before = job.training_input;
  if (!before || !before->hyperparameters) {
    return errors::NotResumable({errors::ResumedNotTuning(id)});
  }
  std::vector<std::string> reasons;
  if (!run::IsTerminal(job.state)) reasons.push_back(errors::ResumedNotFinished(id));
  if (ParamsText(*before) != ParamsText(input)) {
    reasons.push_back(errors::ResumedDiffers(id, "params"));
  }
  if (Minimizes(*before) != Minimizes(input)) {
    reasons.push_back(errors::ResumedDiffers(id, "goal"));
  }
  if (MetricTagOf(*before) != MetricTagOf(input)) {
    reasons.push_back(errors::ResumedDiffers(id, "hyperparameterMetricTag"));
  }
  if (!reasons.empty()) return errors::NotResumable(reasons);
  return Ok{};
}

// The violations of both; only those of the first if the codes differ.
Status Both(Status first, const Status& second) {
  if (first.ok() || second.ok()) return first.ok() ? second : first;
  Error all = first.error();
  if (all.code == second.error().code) {
    const std::vector<FieldViolation>& more = second.error().violations;
    all.violations.insert(all.violations.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

Result<run::AcceptedJob> TrainingApi::Accept(const run::JobRequest& request) const {
  ASSIGN_OR_RETURN(Job job, ParseJob(request.body));
  if (Status checked = CheckJob(job, options_.validation); !checked.ok()) {
    if (!job.training_input) return checked.error();
    return Both(std::move(checked), CheckResumption(*job.training_input, request)).error();
  }
  return Take(request.project, std::move(job));
}

Status TrainingApi::Probe(const run::AcceptedJob& accepted, const run::JobRequest& request,
                          std::vector<FieldViolation> refused) const {
  const TrainingInput& input = static_cast<const TrainingJob&>(*accepted.job).input();
  const std::string& account = options_.service_account;
  Status all = Ok{};
  for (std::optional<Error> found : {ProbePackages(input, account, storage_, request.arriving),
                                     ProbeJobDir(input, account, storage_)}) {
    if (found) all = Both(std::move(all), *std::move(found));
  }
  if (!refused.empty()) {
    all = Both(std::move(all),
               google::errors::Violations(std::move(refused), Code::kFailedPrecondition));
  }
  return Both(std::move(all), CheckResumption(input, request));
}

Result<std::shared_ptr<const run::ApiJob>> TrainingApi::Open(const run::Document& document) const {
  ASSIGN_OR_RETURN(Job job, FromStoredJson(*document));
  if (!job.training_input) return errors::StoredJobWithoutInput();
  return std::shared_ptr<const run::ApiJob>(Made(*std::move(job.training_input)));
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

run::AcceptedJob TrainingApi::Take(const std::string& project, Job job) const {
  FillDefaults(*job.training_input, options_.validation);
  const auto& master = job.training_input->master.config;
  const BuiltInAlgorithm* algorithm =
      master ? options_.validation.catalog->FindBuiltInAlgorithm(master->image_uri) : nullptr;
  return {.key = {project, job.job_id, ""},
          .document = DocumentOf(project, job, algorithm),
          .job = Made(*std::move(job.training_input))};
}

std::shared_ptr<const TrainingJob> TrainingApi::Made(TrainingInput input) const {
  run::RunSpec spec = ToRunSpec(input, options_.validation);
  return std::make_shared<const TrainingJob>(std::move(input), std::move(spec),
                                             options_.project_number);
}

}  // namespace caip::ml
