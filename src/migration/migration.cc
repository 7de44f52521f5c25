#include "migration/migration.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/time_text.h"
#include "migration/errors.h"
#include "migration/findings.h"
#include "migration/pools.h"
#include "migration/study.h"
#include "migration/tables.h"
#include "ml/catalog/catalog.h"
#include "ml/validate/validate.h"
#include "ml/validate/violations.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/schema/tuning_job_json.h"
#include "vertex/validate/validate.h"
#include "vertex/validate/validate_tuning.h"

namespace caip::migration {
namespace {

// "gs://b/out/": Vertex AI appends model/ and the like.
std::string BaseDirectory(std::string job_dir) {
  if (!job_dir.empty() && !job_dir.ends_with('/')) job_dir += '/';
  return job_dir;
}

// The tier that the job has, or its default.
std::string TierOf(const ml::TrainingInput& input) {
  return input.scale_tier.empty() ? "BASIC" : input.scale_tier;
}

bool HasTpu(const ml::TrainingInput& input) {
  const ml::TpuRules& rules = ml::DefaultCatalog().tpu();
  return TierOf(input) == "BASIC_TPU" || input.worker.machine_type == rules.machine_type ||
         std::any_of(std::begin(ml::kRoles), std::end(ml::kRoles), [&](const ml::Role role) {
           const auto& config = input.Of(role).config;
           return config && !config->tpu_tf_version.empty();
         });
}

void RefuseRuntime(const ml::TrainingInput& input, Findings& findings) {
  const ml::Runtime* runtime = ml::DefaultCatalog().FindRuntime(input.runtime_version);
  if (runtime == nullptr || input.UsesContainer()) return;  // ml::Validate reports the former
  const Tables& tables = DefaultTables();
  std::vector<std::string> known;
  for (const RuntimeImages& images : tables.runtimes()) known.push_back(images.runtime);
  if (std::find(known.begin(), known.end(), input.runtime_version) == known.end()) {
    findings.Refuse(errors::RuntimeWithoutImage(input.runtime_version, known));
    return;
  }
  const std::string python = ml::PythonVersionOf(input, {});
  if (python != tables.python()) {
    findings.Refuse(errors::PythonWithoutImage(python, tables.python()));
  }
}

// What a legal job of AI Platform has that Vertex AI has not.
void RefuseUnmigratable(const ml::TrainingInput& input, const MigrationOptions& options,
                        Findings& findings) {
  for (const ml::Role role : ml::kRoles) {
    const auto& config = input.Of(role).config;
    if (!config || !ml::DefaultCatalog().IsBuiltInAlgorithm(config->image_uri)) continue;
    findings.Refuse(
        errors::BuiltInAlgorithm(ml::RoleField(role, "config.image_uri"), config->image_uri));
  }
  if (HasTpu(input)) {
    findings.Refuse(errors::Tpu(TierOf(input) == "BASIC_TPU" ? "scale_tier" : "worker_type"));
  }
  if (input.hyperparameters && !input.hyperparameters->resume_previous_job_id.empty()) {
    findings.Refuse(errors::ResumedStudy(input.hyperparameters->resume_previous_job_id));
  }
  const vertex::ValidationOptions vertex_options;
  const bool is_known = ml::DefaultCatalog().FindRegion(input.region) != nullptr;
  if (is_known && !vertex_options.HasRegion(input.region)) {
    findings.Refuse(errors::RegionUnknown(input.region, vertex_options.RegionNames()));
  }
  if (options.executor_image.empty()) RefuseRuntime(input, findings);
}

Json SchedulingOf(const ml::Scheduling& asked, Findings& findings) {
  Json made = Json::object();
  if (asked.max_running_time) made["timeout"] = ProtoDuration(*asked.max_running_time);
  if (asked.resilient_to_worker_restart) made["restartJobOnWorkerRestart"] = true;
  if (asked.strategy == "LOW_COST") {
    made["strategy"] = "SPOT";
    findings.Note("low_cost");
  }
  if (asked.max_wait_time) {
    findings.Note("max_wait", {{"value", ProtoDuration(*asked.max_wait_time)}});
  }
  if (asked.priority != 0) {
    findings.Note("priority", {{"value", std::to_string(asked.priority)}});
  }
  return made;
}

void NoteJobDir(const ml::TrainingInput& input, Findings& findings) {
  if (input.job_dir.empty()) return findings.Note("no_job_dir");
  findings.Note(input.hyperparameters ? "trial_job_dir" : "job_dir",
                {{"job_dir", input.job_dir}, {"base", BaseDirectory(input.job_dir)}});
}

Json MakeSpec(const ml::TrainingInput& input, const MigrationOptions& options, Findings& findings) {
  Json spec = Json::object();
  spec["workerPoolSpecs"] = MakePools(input, options, findings);
  if (input.scheduling) {
    Json scheduling = SchedulingOf(*input.scheduling, findings);
    if (!scheduling.empty()) spec["scheduling"] = std::move(scheduling);
  }
  if (!input.job_dir.empty()) {
    spec["baseOutputDirectory"] = {{"outputUriPrefix", BaseDirectory(input.job_dir)}};
  }
  NoteJobDir(input, findings);
  if (!input.service_account.empty()) spec["serviceAccount"] = input.service_account;
  if (!input.network.empty()) spec["network"] = input.network;
  if (input.enable_web_access) {
    spec["enableWebAccess"] = true;
    findings.Note("web_access");
  }
  if (TierOf(input) != "CUSTOM") findings.Note("tier", {{"tier", TierOf(input)}});
  return spec;
}

void AddNames(const MigratedJob& job, Json& resource) {
  resource["displayName"] = job.display_name;
  if (!job.labels.empty()) resource["labels"] = job.labels;
  if (!job.kms_key.empty()) resource["encryptionSpec"] = {{"kmsKeyName", job.kms_key}};
}

Json MakeTuningJob(const MigratedJob& job, const ml::HyperparameterSpec& spec, Json trial,
                   Findings& findings) {
  Json made = Json::object();
  AddNames(job, made);
  made["studySpec"] = MakeStudy(spec, findings);
  made["maxTrialCount"] = spec.max_trials.value_or(1);
  made["parallelTrialCount"] = spec.max_parallel_trials.value_or(1);
  if (spec.max_failed_trials != 0) made["maxFailedTrialCount"] = spec.max_failed_trials;
  made["trialJobSpec"] = std::move(trial);
  findings.Note("tuning");
  if (spec.max_failed_trials == 0) findings.Note("failed_trials");
  return made;
}

// The rules of Vertex AI, for what no table of the migration foresees.
void RefuseByVertex(const MigratedJob& job, Findings& findings) {
  std::vector<FieldViolation> broken;
  const auto take = [&](const auto& parsed, auto validate, auto find_unserved) {
    if (!parsed.ok()) {
      broken = parsed.error().violations;
      if (broken.empty()) broken.push_back({"job", parsed.error().message});
      return;
    }
    broken = find_unserved(*parsed, vertex::ValidationOptions{});
    for (FieldViolation& violation : validate(*parsed, job.region, vertex::ValidationOptions{})) {
      broken.push_back(std::move(violation));
    }
  };
  if (job.is_tuning) {
    take(vertex::ParseTuningJob(job.file), vertex::ValidateTuning, vertex::FindUnservedTuning);
  } else {
    Json resource = {{"jobSpec", job.file}};
    AddNames(job, resource);
    take(vertex::ParseCustomJob(resource), vertex::Validate, vertex::FindUnserved);
  }
  for (const FieldViolation& violation : broken) {
    findings.Refuse(errors::RejectedByVertex(violation.field, violation.description));
  }
}

}  // namespace

Result<MigratedJob> Migrate(const ml::Job& job, const MigrationOptions& options) {
  Findings findings;
  findings.Refuse(ml::Validate(job));
  if (job.training_input) RefuseUnmigratable(*job.training_input, options, findings);
  if (findings.has_violations()) return errors::NotMigratable(findings.violations());
  const ml::TrainingInput& input = *job.training_input;
  MigratedJob made{.is_tuning = input.hyperparameters.has_value(),
                   .region = input.region,
                   .display_name = job.job_id,
                   .labels = job.labels,
                   .kms_key = input.kms_key_name,
                   .file = {},
                   .differences = {}};
  findings.Note("always", {{"job", job.job_id}});
  for (const UnstagedPackage& package : options.unstaged) {
    findings.Note("unstaged_package", {{"uri", package.uri}, {"file", package.file}});
  }
  made.file = MakeSpec(input, options, findings);
  for (const Json& pool : made.file["workerPoolSpecs"]) made.skips_pools |= pool.empty();
  if (made.is_tuning) {
    made.file = MakeTuningJob(made, *input.hyperparameters, std::move(made.file), findings);
  }
  RefuseByVertex(made, findings);
  if (findings.has_violations()) return errors::NotMigratable(findings.violations());
  made.differences = findings.Differences();
  return made;
}

}  // namespace caip::migration
