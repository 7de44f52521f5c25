#include "engine/submission.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "engine/errors.h"
#include "ml/environment.h"
#include "ml/errors.h"
#include "ml/job_id.h"
#include "ml/schema/job_json.h"

namespace caip::engine {
namespace {

struct StoragePlace {
  std::string bucket;
  std::string path;
};

// "gs://bucket/a/b" -> {"bucket", "a/b"}; the form was checked by Validate.
StoragePlace PlaceOf(const std::string& uri) {
  constexpr size_t kScheme = sizeof("gs://") - 1;
  const size_t slash = uri.find('/', kScheme);
  if (slash == std::string::npos) return {uri.substr(kScheme), ""};
  return {uri.substr(kScheme, slash - kScheme), uri.substr(slash + 1)};
}

std::optional<Error> ProbeJobDir(const ml::TrainingInput& input, const EngineOptions& options,
                                 StorageProbe& storage) {
  if (input.job_dir.empty()) return std::nullopt;
  const auto [bucket, path] = PlaceOf(input.job_dir);
  if (!storage.BucketExists(bucket)) return ml::errors::JobDirBucketMissing(bucket);
  if (!storage.Writable(bucket, path)) {
    return ml::errors::JobDirUnwritable(input.job_dir, options.service_account);
  }
  return std::nullopt;
}

std::optional<Error> ProbePackages(const ml::TrainingInput& input, const EngineOptions& options,
                                   StorageProbe& storage,
                                   const std::vector<std::string>& arriving) {
  for (const std::string& uri : input.package_uris) {
    if (std::find(arriving.begin(), arriving.end(), uri) != arriving.end()) continue;
    const auto [bucket, object] = PlaceOf(uri);
    if (!storage.BucketExists(bucket) || !storage.ObjectReadable(bucket, object)) {
      return ml::errors::PackagesUnreadable(options.service_account);
    }
  }
  return std::nullopt;
}

// One violation a role that names an image of its own; the others run the master's.
std::optional<Error> CheckImages(const ml::TrainingInput& input, const EngineOptions& options) {
  constexpr std::string_view kFields[] = {"master_config.image_uri", "worker_config.image_uri",
                                          "parameter_server_config.image_uri",
                                          "evaluator_config.image_uri"};
  std::vector<FieldViolation> violations;
  for (size_t i = 0; i < std::size(kFields); ++i) {
    const auto& config = input.Of(run::kRoles[i]).config;
    if (!config || config->image_uri.empty()) continue;
    if (FindImage(options.rules.launch.images, config->image_uri)) continue;
    violations.push_back(errors::ImageNotMapped(std::string(kFields[i]), config->image_uri));
  }
  if (violations.empty()) return std::nullopt;
  return errors::ImagesNotMapped(violations);
}

// The parameters as the API writes them: equal texts ask the same.
std::string ParamsOf(const ml::TrainingInput& input) {
  ml::TrainingInput params;
  params.hyperparameters.emplace().params = input.hyperparameters->params;
  return CompactJson(ml::ToSnakeCaseJson(params));
}

bool Minimizes(const ml::TrainingInput& input) { return input.hyperparameters->goal == "MINIMIZE"; }

}  // namespace

Status CheckResumption(const std::string& project, const ml::TrainingInput& input,
                       const JobStore& store) {
  if (!input.hyperparameters) return Ok{};
  const std::string& id = input.hyperparameters->resume_previous_job_id;
  if (id.empty() || !ml::IsJobId(id)) return Ok{};
  const auto earlier = store.Get(project, id);
  if (!earlier.ok() && earlier.error().code != Code::kNotFound) return earlier.error();
  if (!earlier.ok()) return errors::NotResumable({errors::ResumedMissing(id)});
  const auto& before = earlier->job.training_input;
  if (!before || !before->hyperparameters) {
    return errors::NotResumable({errors::ResumedNotTuning(id)});
  }
  std::vector<std::string> reasons;
  if (!run::IsTerminal(earlier->job.state)) reasons.push_back(errors::ResumedNotFinished(id));
  if (ParamsOf(*before) != ParamsOf(input)) reasons.push_back(errors::ResumedDiffers(id, "params"));
  if (Minimizes(*before) != Minimizes(input)) {
    reasons.push_back(errors::ResumedDiffers(id, "goal"));
  }
  if (ml::MetricTagOf(*before) != ml::MetricTagOf(input)) {
    reasons.push_back(errors::ResumedDiffers(id, "hyperparameterMetricTag"));
  }
  if (!reasons.empty()) return errors::NotResumable(reasons);
  return Ok{};
}

Status CheckSubmission(const ml::Job& job, const EngineOptions& options, StorageProbe& storage,
                       const std::vector<std::string>& arriving) {
  RETURN_IF_ERROR(ml::CheckJob(job, options.rules.validation));
  const ml::TrainingInput& input = *job.training_input;
  std::optional<Error> all;
  for (std::optional<Error> found :
       {ProbePackages(input, options, storage, arriving), ProbeJobDir(input, options, storage),
        CheckImages(input, options)}) {
    if (found && all) {
      all->violations.insert(all->violations.end(), found->violations.begin(),
                             found->violations.end());
    } else if (found) {
      all = std::move(found);
    }
  }
  if (all) return *std::move(all);
  return Ok{};
}

Status Both(Status first, const Status& second) {
  if (first.ok() || second.ok()) return first.ok() ? second : first;
  Error all = first.error();
  if (all.code == second.error().code) {
    const std::vector<FieldViolation>& more = second.error().violations;
    all.violations.insert(all.violations.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace caip::engine
