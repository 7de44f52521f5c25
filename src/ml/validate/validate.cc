#include "ml/validate/validate.h"

#include <algorithm>

#include "google/errors.h"
#include "google/labels.h"
#include "ml/errors.h"
#include "ml/job_id.h"
#include "ml/limits.h"
#include "ml/validate/validate_parts.h"
#include "ml/validate/violations.h"

namespace caip::ml {
namespace {

void ExamineInput(const Job& job, std::vector<FieldViolation>& found) {
  const int inputs = (job.training_input ? 1 : 0) + (job.has_prediction_input ? 1 : 0) +
                     (job.has_explanation_input ? 1 : 0);
  if (inputs == 0) found.push_back(violations::InputMissing());
  if (inputs > 1) found.push_back(violations::InputAmbiguous());
  if (job.has_prediction_input) found.push_back(violations::InputNotEmulated("prediction_input"));
  if (job.has_explanation_input) found.push_back(violations::InputNotEmulated("explanation_input"));
}

void ExamineLabels(const Job& job, std::vector<FieldViolation>& found) {
  for (FieldViolation& violation : ValidateLabels(job.labels)) {
    found.push_back(std::move(violation));
  }
}

void ExamineTrainingInput(const TrainingInput& input, const ValidationOptions& options,
                          std::vector<FieldViolation>& found) {
  const Examination exam(input, options, found);
  ExamineMachines(exam);
  ExamineAccelerators(exam);
  ExamineTpu(exam);
  ExamineImages(exam);
  ExaminePackages(exam);
  ExamineRuntime(exam);
  ExaminePlace(exam);
  ExamineScheduling(exam);
  ExamineTuning(exam);
  if (input.has_nas_job_spec) exam.Report(violations::ArchitectureSearchNotEmulated());
}

}  // namespace

Examination::Examination(const TrainingInput& examined, const ValidationOptions& chosen,
                         std::vector<FieldViolation>& sink)
    : input(examined), options(chosen), found(sink) {
  const std::string tier_name = input.scale_tier.empty() ? "BASIC" : input.scale_tier;
  tier = options.catalog->FindTier(tier_name);
  is_custom = tier != nullptr && tier->IsCustom();
  const std::string& tpu = options.catalog->tpu().machine_type;
  const TierRole* tier_worker = tier == nullptr ? nullptr : tier->Of(Role::kWorker);
  is_tpu_job = (tier_worker != nullptr && tier_worker->machine_type == tpu) ||
               std::any_of(std::begin(kRoles), std::end(kRoles),
                           [&](Role role) { return input.Of(role).machine_type == tpu; });
  is_built_in =
      input.UsesContainer() && options.catalog->IsBuiltInAlgorithm(input.master.config->image_uri);
}

const MachineType* Examination::MachineOf(Role role) const {
  return options.catalog->FindMachine(input.Of(role).machine_type);
}

bool Examination::RunsImage(Role role) const {
  const auto& config = input.Of(role).config;
  return input.UsesContainer() || (config && !config->image_uri.empty());
}

const Runtime* ValidationOptions::FindRuntime(std::string_view version) const {
  for (const Runtime& runtime : extra_runtimes) {
    if (runtime.version == version) return &runtime;
  }
  return catalog->FindRuntime(version);
}

std::vector<std::string> ValidationOptions::RegionNames() const {
  std::vector<std::string> names = extra_regions;
  for (const Region& region : catalog->regions()) names.push_back(region.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> ValidationOptions::RuntimeVersions() const {
  std::vector<std::string> versions;
  for (const Runtime& runtime : catalog->runtimes()) versions.push_back(runtime.version);
  for (const Runtime& runtime : extra_runtimes) versions.push_back(runtime.version);
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    return ParseRuntimeVersion(a) < ParseRuntimeVersion(b);
  });
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

std::vector<FieldViolation> ValidateLabels(const std::map<std::string, std::string>& labels) {
  std::vector<FieldViolation> found;
  if (labels.size() > google::kLabelsMax) found.push_back(violations::TooManyLabels(labels.size()));
  for (const auto& [key, value] : labels) {
    if (!google::IsLabelKey(key)) found.push_back(violations::LabelKeyIllegal(key));
    if (!google::IsLabelValue(value)) found.push_back(violations::LabelValueIllegal(key, value));
  }
  return found;
}

std::vector<FieldViolation> Validate(const Job& job, const ValidationOptions& options) {
  std::vector<FieldViolation> found;
  if (!IsJobId(job.job_id)) found.push_back(violations::JobIdMalformed(job.job_id));
  ExamineInput(job, found);
  if (job.training_input) ExamineTrainingInput(*job.training_input, options, found);
  ExamineLabels(job, found);
  return found;
}

Error ValidationError(std::vector<FieldViolation> violations) {
  return google::errors::Violations(std::move(violations));
}

Status CheckJob(const Job& job, const ValidationOptions& options) {
  std::vector<FieldViolation> found = Validate(job, options);
  if (found.empty()) return Ok{};
  return ValidationError(std::move(found));
}

void FillDefaults(TrainingInput& input, const ValidationOptions& options) {
  if (input.UsesContainer() || !input.runtime_version.empty()) return;
  input.runtime_version = options.default_runtime_version;
}

std::string PythonVersionOf(const TrainingInput& input, const ValidationOptions& options) {
  if (!input.python_version.empty()) return input.python_version;
  const Runtime* runtime = options.FindRuntime(
      input.runtime_version.empty() ? options.default_runtime_version : input.runtime_version);
  return runtime == nullptr ? "" : runtime->pythons.front();
}

}  // namespace caip::ml
