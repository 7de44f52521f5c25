#include "vertex/render.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/json.h"
#include "google/transcoder.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/schema/custom_job_schema.h"
#include "vertex/schema/training_pipeline_schema.h"
#include "vertex/schema/tuning_job_schema.h"
#include "vertex/study.h"
#include "vertex/trials.h"

namespace caip::vertex {
namespace {

constexpr int kFractionDigits = 6;
constexpr std::string_view kStatePrefix = "JOB_STATE_";

void PutTime(Json& plain, const char* name, const std::optional<Instant>& time) {
  if (time) plain[name] = time->time_since_epoch().count();
}

// The engine records no other change than these.
std::optional<Instant> UpdateTimeOf(const run::Job& job) {
  if (job.end_time) return job.end_time;
  return job.start_time ? job.start_time : job.create_time;
}

bool HasError(run::JobState state) {
  return state == run::JobState::kFailed || state == run::JobState::kCancelled;
}

Result<StoredCustomJob> ReadStored(const run::Job& job) {
  Result<StoredCustomJob> stored = ReadDocument(job.document);
  if (stored.ok()) return stored;
  return errors::StoredJobUnreadable(job.key.project + "/" + job.key.job_id, stored.error());
}

std::string NameOf(const run::Job& job, const RenderOptions& options, std::string_view collection,
                   std::string_view id) {
  return Text({options.project_number.empty() ? job.key.project : options.project_number,
               job.key.location, std::string(collection), std::string(id)});
}

Result<StoredTuningJob> ReadStoredTuning(const run::Job& job) {
  Result<StoredTuningJob> stored = ReadTuningDocument(job.document);
  if (stored.ok()) return stored;
  return errors::StoredJobUnreadable(job.key.project + "/" + job.key.job_id, stored.error());
}

// What all resources show of the run.
void PutRun(Json& plain, const run::Job& job, Code error) {
  PutTime(plain, "create_time", job.create_time);
  PutTime(plain, "start_time", job.start_time);
  PutTime(plain, "end_time", job.end_time);
  PutTime(plain, "update_time", UpdateTimeOf(job));
  if (!HasError(job.state)) return;
  plain["error"] = Json{{"code", static_cast<int>(error)}, {"message", job.error_message}};
}

google::WriteStyle StyleOf(const RenderOptions& options) {
  return {
      .camel_case = true, .fraction_digits = kFractionDigits, .enum_numbers = options.enum_numbers};
}

// Whole numbers are integers, as the API writes them.
Json NumberOfText(const std::string& text) {
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  if (std::from_chars(text.data(), end, integer).ptr == end) return integer;
  double number = 0;
  std::from_chars(text.data(), end, number);
  return number;
}

Json TrialParameters(const tuning::Space& space, const run::Trial& trial) {
  Json parameters = Json::array();
  for (const tuning::Parameter& parameter : space.parameters()) {
    const auto value = trial.values.find(parameter.name);
    if (value == trial.values.end()) continue;
    const bool is_text = parameter.type == tuning::ValueType::kCategorical;
    parameters.push_back({{"parameter_id", parameter.name},
                          {"value", is_text ? Json(value->second) : NumberOfText(value->second)}});
  }
  return parameters;
}

Json FinalMeasurement(const std::string& metric, const std::pair<int64_t, double>& final) {
  Json value = {{"metric_id", metric}, {"value", final.second}};
  return {{"step_count", final.first}, {"metrics", Json::array({std::move(value)})}};
}

Json PlainTrial(const run::Trial& trial, const run::TuningSpec& tuning, bool is_cancelling) {
  Json plain = {{"id", trial.id},
                {"state", TrialStateName(trial.state, is_cancelling)},
                {"parameters", TrialParameters(tuning.study.space, trial)}};
  if (trial.final_metric) {
    plain["final_measurement"] = FinalMeasurement(tuning.metric_tag, *trial.final_metric);
  }
  PutTime(plain, "start_time", trial.start_time);
  PutTime(plain, "end_time", trial.end_time);
  if (HasError(trial.state)) plain["infeasible_reason"] = trial.error_message;
  return plain;
}

Json PlainTrials(const run::Job& job, const StoredTuningJob& stored, const RenderOptions& options) {
  const run::TuningSpec tuning = TuningSpecOf(stored.job);
  Json trials = Json::array();
  for (const run::Trial& trial : stored.trials) {
    trials.push_back(PlainTrial(trial, tuning, job.state == run::JobState::kCancelling));
    trials.back()["custom_job"] =
        NameOf(job, options, kCustomJobs, TrialJobId(job.key.job_id, trial.id));
  }
  return trials;
}

// The resource of a pipeline that has made `job`.
Result<Json> RenderPipeline(const run::Job& job, StoredPipeline pipeline, bool is_spot,
                            Json metadata, const RenderOptions& options) {
  Json plain = std::move(pipeline.plain);
  plain["name"] = NameOf(job, options, kTrainingPipelines, pipeline.id);
  plain["training_task_metadata"] = std::move(metadata);
  plain["state"] = PipelineStateName(job.state, ShowsQueue(job, options.has_queue));
  PutRun(plain, job, ErrorCodeOf(job.end_cause, is_spot));
  return google::WriteMessage(plain, TrainingPipelineSchema(), StyleOf(options));
}

Result<Json> RenderTuningPipeline(const run::Job& job, const RenderOptions& options) {
  ASSIGN_OR_RETURN(StoredTuningJob stored, ReadStoredTuning(job));
  if (!stored.pipeline) return errors::PipelineNotFound();
  Json metadata = {
      {"backingHyperparameterTuningJob", NameOf(job, options, kTuningJobs, job.key.job_id)}};
  const run::Trial* best = run::IsTerminal(job.state) ? FindBestTrial(stored) : nullptr;
  if (best) {
    metadata["bestTrialBackingCustomJob"] =
        NameOf(job, options, kCustomJobs, TrialJobId(job.key.job_id, best->id));
  }
  return RenderPipeline(job, *std::move(stored.pipeline),
                        stored.job.trial.spec->scheduling.IsSpot(), std::move(metadata), options);
}

}  // namespace

namespace {

// Of a CustomJob in API JSON. The trials of a tuning job wait by themselves.
bool HasAccelerators(const Json& job) {
  const Json* spec = Member(job, "jobSpec");
  const Json* pools = spec ? Member(*spec, "workerPoolSpecs") : nullptr;
  for (const Json& pool : pools && pools->is_array() ? *pools : Json::array()) {
    const Json* machine = Member(pool, "machineSpec");
    if (machine && IntOr(*machine, "acceleratorCount", 0) > 0) return true;
  }
  return false;
}

}  // namespace

std::string_view TrialStateName(run::JobState state, bool is_cancelling) {
  switch (state) {
    case run::JobState::kUnspecified:
      return "STATE_UNSPECIFIED";
    case run::JobState::kQueued:
    case run::JobState::kPreparing:
      return is_cancelling ? "STOPPING" : "REQUESTED";
    case run::JobState::kRunning:
      return is_cancelling ? "STOPPING" : "ACTIVE";
    case run::JobState::kCancelling:
      return "STOPPING";
    case run::JobState::kSucceeded:
      return "SUCCEEDED";
    case run::JobState::kFailed:
    case run::JobState::kCancelled:
      return "INFEASIBLE";
  }
  return "STATE_UNSPECIFIED";
}

bool ShowsQueue(const run::Job& job, bool has_queue) {
  return has_queue || (job.queue_position > 0 && HasAccelerators(JobPartOf(job.document)));
}

std::string PipelineStateName(run::JobState state, bool has_queue) {
  return "PIPELINE_STATE_" +
         std::string(JobStateName(state, has_queue).substr(kStatePrefix.size()));
}

std::string_view JobStateName(run::JobState state, bool has_queue) {
  switch (state) {
    case run::JobState::kUnspecified:
      return "JOB_STATE_UNSPECIFIED";
    case run::JobState::kQueued:
      return has_queue ? "JOB_STATE_QUEUED" : "JOB_STATE_PENDING";
    case run::JobState::kPreparing:
      return "JOB_STATE_PENDING";
    case run::JobState::kRunning:
      return "JOB_STATE_RUNNING";
    case run::JobState::kSucceeded:
      return "JOB_STATE_SUCCEEDED";
    case run::JobState::kFailed:
      return "JOB_STATE_FAILED";
    case run::JobState::kCancelling:
      return "JOB_STATE_CANCELLING";
    case run::JobState::kCancelled:
      return "JOB_STATE_CANCELLED";
  }
  return "JOB_STATE_UNSPECIFIED";
}

Code ErrorCodeOf(run::EndCause cause, bool is_spot) {
  switch (cause) {
    case run::EndCause::kNone:
      return Code::kOk;
    case run::EndCause::kReplicaFailed:
    case run::EndCause::kTrialsFailed:
      return Code::kInvalidArgument;
    case run::EndCause::kOutOfMemory:
    case run::EndCause::kOutOfStock:
      return Code::kResourceExhausted;
    case run::EndCause::kMachineLost:
      return is_spot ? Code::kResourceExhausted : Code::kInternal;
    case run::EndCause::kServiceError:
      return Code::kInternal;
    case run::EndCause::kRefused:
      return Code::kFailedPrecondition;
    case run::EndCause::kWaitedTooLong:
    case run::EndCause::kRanTooLong:
      return Code::kDeadlineExceeded;
    case run::EndCause::kCancelled:
      return Code::kCancelled;
  }
  return Code::kUnknown;
}

Result<Json> RenderCustomJob(const run::Job& job, const RenderOptions& options) {
  ASSIGN_OR_RETURN(StoredCustomJob stored, ReadStored(job));
  const Code error = ErrorCodeOf(job.end_cause, stored.job.spec->scheduling.IsSpot());
  Json plain = std::move(stored.job.plain);
  plain["name"] = NameOf(job, options, kCustomJobs, job.key.job_id);
  plain["state"] = JobStateName(job.state, ShowsQueue(job, options.has_queue));
  PutRun(plain, job, error);
  return google::WriteMessage(plain, CustomJobSchema(), StyleOf(options));
}

Result<Json> RenderTuningJob(const run::Job& job, const RenderOptions& options) {
  ASSIGN_OR_RETURN(StoredTuningJob stored, ReadStoredTuning(job));
  const Code error = ErrorCodeOf(job.end_cause, stored.job.trial.spec->scheduling.IsSpot());
  Json trials = PlainTrials(job, stored, options);
  Json plain = std::move(stored.job.plain);
  plain["name"] = NameOf(job, options, kTuningJobs, job.key.job_id);
  plain["trials"] = std::move(trials);
  plain["state"] = JobStateName(job.state, ShowsQueue(job, options.has_queue));
  PutRun(plain, job, error);
  google::RemoveDefaults(plain, TuningJobSchema());
  return google::WriteMessage(plain, TuningJobSchema(), StyleOf(options));
}

Result<Json> RenderTrainingPipeline(const run::Job& job, const RenderOptions& options) {
  if (IsTuningJob(job.document)) return RenderTuningPipeline(job, options);
  ASSIGN_OR_RETURN(StoredCustomJob stored, ReadStored(job));
  if (!stored.pipeline) return errors::PipelineNotFound();
  Json metadata = {{"backingCustomJob", NameOf(job, options, kCustomJobs, job.key.job_id)}};
  return RenderPipeline(job, *std::move(stored.pipeline), stored.job.spec->scheduling.IsSpot(),
                        std::move(metadata), options);
}

}  // namespace caip::vertex
