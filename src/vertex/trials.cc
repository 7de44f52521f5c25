#include "vertex/trials.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "google/errors.h"
#include "google/message_schema.h"
#include "google/transcoder.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/study.h"

namespace caip::vertex {
namespace {

constexpr int kNanosecondDigits = 9;
constexpr std::string_view kTrialJobSuffix = "-trial-";

// Not a message of the service: what Trial of run/job.h has.
constexpr google::FieldSchema kStoredTrialFields[] = {
    google::fields::Field("id", "id", google::FieldKind::kString),
    google::fields::Field("state", "state", google::FieldKind::kString),
    google::fields::Field("values", "values", google::FieldKind::kStringMap),
    google::fields::Field("createTime", "create_time", google::FieldKind::kTimestamp),
    google::fields::Field("startTime", "start_time", google::FieldKind::kTimestamp),
    google::fields::Field("endTime", "end_time", google::FieldKind::kTimestamp),
    google::fields::Field("errorMessage", "error_message", google::FieldKind::kString),
    google::fields::Field("endCause", "end_cause", google::FieldKind::kString),
    google::fields::Field("finalStep", "final_step", google::FieldKind::kInt64),
    google::fields::Field("finalValue", "final_value", google::FieldKind::kDouble),
    google::fields::Field("stoppedEarly", "stopped_early", google::FieldKind::kBool),
};
constexpr google::MessageSchema kStoredTrial{"caip.StoredTrial", kStoredTrialFields};

int64_t NumberOfTrial(const run::Trial& trial) { return std::stoll(trial.id); }

void KeepTime(Json& plain, const char* name, const std::optional<Instant>& time) {
  if (time) plain[name] = time->time_since_epoch().count();
}

std::optional<Instant> KeptTime(const Json& plain, std::string_view name) {
  const Json* time = Member(plain, name);
  return time ? std::optional(Instant(Duration(time->get<int64_t>()))) : std::nullopt;
}

Json ToStoredTrial(const run::Trial& trial) {
  Json plain = {{"id", trial.id},
                {"state", run::Name(trial.state)},
                {"values", trial.values},
                {"error_message", trial.error_message},
                {"end_cause", run::Name(trial.end_cause)},
                {"stopped_early", trial.stopped_early}};
  KeepTime(plain, "create_time", trial.create_time);
  KeepTime(plain, "start_time", trial.start_time);
  KeepTime(plain, "end_time", trial.end_time);
  if (trial.final_metric) {
    plain["final_step"] = trial.final_metric->first;
    plain["final_value"] = trial.final_metric->second;
  }
  return google::WriteMessage(plain, kStoredTrial, {.fraction_digits = kNanosecondDigits});
}

run::Trial FromPlainTrial(const Json& plain) {
  run::Trial trial;
  trial.id = StringOr(plain, "id");
  trial.state = run::JobStateNamed(StringOr(plain, "state")).value_or(run::JobState::kUnspecified);
  if (const Json* values = Member(plain, "values")) {
    for (const auto& [name, value] : values->items()) trial.values[name] = value.get<std::string>();
  }
  trial.create_time = KeptTime(plain, "create_time");
  trial.start_time = KeptTime(plain, "start_time");
  trial.end_time = KeptTime(plain, "end_time");
  trial.error_message = StringOr(plain, "error_message");
  trial.end_cause = run::EndCauseNamed(StringOr(plain, "end_cause"));
  if (const Json* value = Member(plain, "final_value")) {
    trial.final_metric =
        std::pair<int64_t, double>(IntOr(plain, "final_step", 0), value->get<double>());
  }
  trial.stopped_early = IsTrue(plain, "stopped_early");
  return trial;
}

// The trial's values come after the arguments of each pool.
void AppendArguments(Json& job_spec, const std::vector<std::string>& arguments) {
  const auto pools = job_spec.find("worker_pool_specs");
  if (pools == job_spec.end()) return;
  for (Json& pool : *pools) {
    for (const char* task : {"container_spec", "python_package_spec"}) {
      if (!pool.contains(task)) continue;
      for (const std::string& argument : arguments) pool[task]["args"].push_back(argument);
    }
  }
}

}  // namespace

Json ToStoredTrials(std::vector<run::Trial> trials) {
  std::ranges::sort(trials, {}, NumberOfTrial);
  Json stored = Json::array();
  for (const run::Trial& trial : trials) stored.push_back(ToStoredTrial(trial));
  return stored;
}

Result<std::vector<run::Trial>> FromStoredTrials(const Json& stored) {
  std::vector<run::Trial> trials;
  std::vector<FieldViolation> violations;
  for (const Json& trial : stored) {
    const Json plain = google::ReadMessage(trial, kStoredTrial, "trials", violations);
    if (violations.empty()) trials.push_back(FromPlainTrial(plain));
  }
  if (violations.empty()) return trials;
  return errors::StoredJobBroken(google::errors::NotTheMessage(std::move(violations)).message);
}

run::Job TrialAsJob(const run::Job& tuning_job, const StoredTuningJob& stored,
                    const run::Trial& trial) {
  CustomJob job = stored.job.trial;
  job.display_name = BackingDisplayName(job.display_name, std::string(kTrialJobSuffix) + trial.id);
  job.plain["display_name"] = job.display_name;
  const tuning::Space space = TuningSpecOf(stored.job).study.space;
  AppendArguments(job.plain["job_spec"], TrialArguments(space, trial.values));
  const run::RunKey& key = tuning_job.key;
  return {.key = {key.project, TrialJobId(key.job_id, trial.id), "", key.location},
          .api = tuning_job.api,
          .state = trial.state,
          .create_time = trial.create_time,
          .start_time = trial.start_time,
          .end_time = trial.end_time,
          .error_message = trial.error_message,
          .end_cause = trial.end_cause,
          .document = ToDocument(job, stored.region)};
}

Result<std::vector<run::Job>> TrialsAsJobs(const run::Job& tuning_job) {
  ASSIGN_OR_RETURN(const StoredTuningJob stored, ReadTuningDocument(tuning_job.document));
  std::vector<run::Job> jobs;
  for (const run::Trial& trial : stored.trials) {
    jobs.push_back(TrialAsJob(tuning_job, stored, trial));
  }
  std::ranges::reverse(jobs);
  return jobs;
}

const run::Trial* FindBestTrial(const StoredTuningJob& stored) {
  const bool minimizes = stored.job.study->metrics.front().goal == "MINIMIZE";
  const run::Trial* best = nullptr;
  for (const run::Trial& trial : stored.trials) {
    if (!trial.final_metric || std::isnan(trial.final_metric->second)) continue;
    const double value = trial.final_metric->second;
    const bool is_better = !best || (minimizes ? value < best->final_metric->second
                                               : value > best->final_metric->second);
    if (is_better) best = &trial;
  }
  return best;
}

}  // namespace caip::vertex
