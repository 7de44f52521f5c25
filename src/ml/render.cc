#include "ml/render.h"

#include <cstdint>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "ml/command_line.h"
#include "ml/errors.h"
#include "ml/schema/job_json.h"

namespace caip::ml {
namespace {

Result<Job> StoredJob(const run::Job& job) {
  Result<Job> stored = FromStoredJson(*job.document);
  if (stored.ok()) return stored;
  return errors::StoredJobUnreadable(job.key.project + "/" + job.key.job_id, stored.error());
}

void Mix(uint64_t& hash, std::string_view text) {
  hash = Fnv1a(text, hash);
  hash = (hash ^ 0x1ff) * kFnvPrime;  // not a byte, so that "a","bc" differs from "ab","c"
}

// Eight bytes, as the service gives them: a hash of the previous etag (at first, of the job name)
// and of the labels, so that going back to old labels does not bring back the old etag.
std::string NextEtag(std::string_view previous, const std::map<std::string, std::string>& labels) {
  uint64_t hash = kFnvStart;
  Mix(hash, previous);
  for (const auto& [key, value] : labels) {
    Mix(hash, key);
    Mix(hash, value);
  }
  uint64_t mixed = Random(hash).Next();
  std::string etag;
  for (int i = 0; i < 8; ++i, mixed >>= 8) etag += static_cast<char>(mixed & 0xff);
  return etag;
}

// `trial` "": of the job itself.
std::string ModelPathOf(const Job& job, const std::string& trial) {
  const std::string directory = JobDirOf(job.training_input->job_dir, trial);
  return directory + (directory.ends_with('/') ? "model/" : "/model/");
}

// The model is at its path only after success (docs/service/api.md, section 7).
void AddModelPath(Job& job) {
  if (!job.training_input || !job.training_output || job.state != run::JobState::kSucceeded) return;
  TrainingOutput& output = *job.training_output;
  if (!output.built_in_algorithm_output || output.is_hyperparameter_tuning_job) return;
  output.built_in_algorithm_output->model_path = ModelPathOf(job, "");
}

run::Document ToDocument(const Job& job) { return std::make_shared<const Json>(ToStoredJson(job)); }

}  // namespace

Result<Job> RenderJob(const run::Job& job) {
  ASSIGN_OR_RETURN(Job rendered, StoredJob(job));
  rendered.job_id = job.key.job_id;
  rendered.state = job.state;
  rendered.create_time = job.create_time;
  rendered.start_time = job.start_time;
  rendered.end_time = job.end_time;
  rendered.error_message = job.error_message;
  rendered.job_position = job.queue_position;
  AddModelPath(rendered);
  return rendered;
}

run::Document DocumentOf(const std::string& project, const Job& job,
                         const BuiltInAlgorithm* algorithm) {
  Job kept;
  kept.job_id = job.job_id;
  kept.training_input = job.training_input;
  kept.labels = job.labels;
  kept.etag = NextEtag(project + "/" + job.job_id, job.labels);
  if (algorithm) {
    TrainingOutput& output = kept.training_output.emplace();
    output.is_built_in_algorithm_job = true;
    output.built_in_algorithm_output = BuiltInAlgorithmOutput{
        algorithm->framework, algorithm->runtime_version, algorithm->python_version, ""};
  }
  return ToDocument(kept);
}

Result<run::Document> WithLabels(const run::Job& job, std::map<std::string, std::string> labels,
                                 const std::optional<std::string>& etag) {
  ASSIGN_OR_RETURN(Job changed, StoredJob(job));
  if (etag && *etag != changed.etag) return errors::EtagStale();
  changed.labels = std::move(labels);
  changed.etag = NextEtag(changed.etag, changed.labels);
  return ToDocument(changed);
}

Result<run::Document> WithTrials(const run::Document& document, const run::TrialsSummary& summary) {
  ASSIGN_OR_RETURN(Job job, FromStoredJson(*document));
  if (!job.training_output) job.training_output.emplace();
  TrainingOutput& output = *job.training_output;
  output.is_hyperparameter_tuning_job = true;
  output.hyperparameter_metric_tag = summary.metric_tag;
  output.completed_trial_count = summary.completed;
  output.trials.clear();
  for (const run::Trial& trial : summary.trials) {
    HyperparameterOutput& shown = output.trials.emplace_back();
    shown.trial_id = trial.id;
    shown.hyperparameters = trial.values;
    shown.final_metric = trial.final_metric;
    shown.is_trial_stopped_early = trial.stopped_early;
    shown.state = trial.state;
    shown.start_time = trial.start_time;
    shown.end_time = trial.end_time;
    const bool has_model = trial.state == run::JobState::kSucceeded && !trial.stopped_early;
    if (output.built_in_algorithm_output && has_model) {
      shown.built_in_algorithm_output = output.built_in_algorithm_output;
      shown.built_in_algorithm_output->model_path = ModelPathOf(job, trial.id);
    }
  }
  Json changed = *document;
  changed["trainingOutput"] = ToStoredJson(job)["trainingOutput"];
  return run::Document(std::make_shared<const Json>(std::move(changed)));
}

}  // namespace caip::ml
