// Creates, reads, measures and ends studies and trials; study_suggestions.cc has the other methods.

#include "emulator/api/optimizer/study_service.h"

#include <algorithm>
#include <cctype>

#include "emulator/api/errors.h"
#include "emulator/api/optimizer/study_trials.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

constexpr size_t kStudyIdMax = 128;

bool IsStudyId(const std::string& id) {
  return !id.empty() && id.size() <= kStudyIdMax &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) || c == '-' || c == '_');
         });
}

std::string StudyOf(const std::string& trial) { return trial.substr(0, trial.rfind("/trials/")); }

std::pair<int64_t, int64_t> ProgressOf(const Json& measurement) {
  return {measurement.value("step_count", int64_t{0}),
          measurement.value("elapsed_time", int64_t{0})};
}

// True if each measurement comes after the previous one.
bool IsInOrder(const Json& measurements) {
  for (size_t i = 1; i < measurements.size(); ++i) {
    if (!(ProgressOf(measurements[i - 1]) < ProgressOf(measurements[i]))) return false;
  }
  return true;
}

bool IsNew(const Json& trial, const Json& measurement) {
  const Json* earlier = Member(trial, "measurements");
  return !earlier || earlier->empty() || ProgressOf(earlier->back()) < ProgressOf(measurement);
}

bool IsInfeasible(const Json& message) { return message.value("trial_infeasible", false); }

void MarkInfeasible(Json& trial, const Json& message) {
  trial["trial_infeasible"] = true;
  const std::string reason = StringOr(message, "infeasible_reason");
  if (!reason.empty()) trial["infeasible_reason"] = reason;
}

// Finds the outcome of a trial that a user creates; nullptr: it has no outcome, or is infeasible.
const Json* FinalOf(const tuning::StudyConfig& config, const Json& trial) {
  if (IsInfeasible(trial)) return nullptr;
  if (const Json* final = Member(trial, "final_measurement")) return final;
  return StringOr(trial, "state") == "COMPLETED" ? LastWholeMeasurement(config, trial) : nullptr;
}

// Returns all mistakes in a trial that a user creates, except those in its values.
std::vector<FieldViolation> CheckOwnTrial(const tuning::StudyConfig& config, const Json& trial) {
  std::vector<FieldViolation> violations;
  const auto check = [&](const Json& measurement, const std::string& field, bool all) {
    const auto more = CheckMeasurement(config, measurement, field, all);
    violations.insert(violations.end(), more.begin(), more.end());
  };
  const std::string state = StringOr(trial, "state");
  const Json* final = Member(trial, "final_measurement");
  if (final && !IsInfeasible(trial)) check(*final, "trial.final_measurement", true);
  const Json measurements = trial.value("measurements", Json::array());
  for (size_t i = 0; i < measurements.size(); ++i) {
    check(measurements[i], "trial.measurements[" + std::to_string(i) + "]", false);
  }
  if (!IsInOrder(measurements)) {
    violations.push_back(errors::MeasurementOutOfOrder("trial.measurements"));
  }
  if (state == "ACTIVE" || state == "STOPPING") {
    violations.push_back(errors::TrialStateIllegal(state));
  }
  if (state == "COMPLETED" && !IsInfeasible(trial) && !FinalOf(config, trial)) {
    violations.push_back(errors::OutcomeMissing());
  }
  return violations;
}

// Makes the trial that a user's request creates, still without a name.
Result<Json> MakeOwnTrial(const tuning::StudyConfig& config, const Json& asked, int64_t now) {
  const auto point = PointOf(config.study.space, asked);
  std::vector<FieldViolation> violations = CheckOwnTrial(config, asked);
  if (!point.ok()) {
    const auto& wrong = point.error().violations;
    violations.insert(violations.begin(), wrong.begin(), wrong.end());
  }
  if (!violations.empty()) return google::errors::Violations(std::move(violations));
  const Json* final = FinalOf(config, asked);
  const bool infeasible = IsInfeasible(asked);
  Json made = {{"name", ""},
               {"state", final || infeasible ? "COMPLETED" : "REQUESTED"},
               {"parameters", ParametersOf(*point)}};
  const Json measurements = asked.value("measurements", Json::array());
  if (!measurements.empty()) made["measurements"] = measurements;
  if (infeasible) MarkInfeasible(made, asked);
  if (final) made["final_measurement"] = *final;
  if (final || infeasible) made["start_time"] = made["end_time"] = now;
  return made;
}

// Sets the trial's outcome from the request. Without a final measurement, the last reported
// measurement with all metrics counts.
Status SetOutcome(const tuning::StudyConfig& config, const Json& request, Json& trial) {
  if (IsInfeasible(request)) {
    MarkInfeasible(trial, request);
    return Ok{};
  }
  if (const Json* final = Member(request, "final_measurement")) {
    auto violations = CheckMeasurement(config, *final, "final_measurement", true);
    if (!violations.empty()) return google::errors::Violations(std::move(violations));
    trial["final_measurement"] = *final;
    return Ok{};
  }
  const Json* last = LastWholeMeasurement(config, trial);
  if (!last) return errors::NothingMeasured();
  trial["final_measurement"] = Json(*last);
  return Ok{};
}

}  // namespace

Result<Json> StudyService::CreateStudy(const std::string& parent, const std::string& id,
                                       Json study) {
  if (!IsStudyId(id)) return errors::StudyIdIllegal(id);
  const Json* config = Member(study, "study_config");
  if (!config) return errors::StudyConfigMissing();
  RETURN_IF_ERROR(tuning::ReadStudyConfig(*config));
  const std::string name = parent + "/studies/" + id;
  const StudyLocks::Held held(locks_, name);
  ASSIGN_OR_RETURN(const auto present, store_.Get(name));
  if (present) return errors::StudyExists();
  const Json made = {
      {"name", name}, {"study_config", *config}, {"state", "ACTIVE"}, {"create_time", Now()}};
  RETURN_IF_ERROR(store_.Apply({{parent, name, Json{{"study", made}, {"next_trial", 1}}}}));
  return made;
}

Result<StudyService::Open> StudyService::OpenStudy(const std::string& name) const {
  ASSIGN_OR_RETURN(auto stored, store_.Get(name));
  if (!stored) return errors::StudyNotFound();
  ASSIGN_OR_RETURN(auto config, tuning::ReadStudyConfig((*stored)["study"]["study_config"]));
  return Open{*std::move(stored), std::move(config), name};
}

Result<Json> StudyService::GetStudy(const std::string& name) const {
  ASSIGN_OR_RETURN(auto stored, store_.Get(name));
  if (!stored) return errors::StudyNotFound();
  return (*stored)["study"];
}

Result<std::vector<Json>> StudyService::ListStudies(const std::string& parent) const {
  ASSIGN_OR_RETURN(auto studies, store_.Below(parent, parent + "/studies/"));
  for (Json& study : studies) study = Json(study["study"]);
  return studies;
}

Status StudyService::DeleteStudy(const std::string& name) {
  const StudyLocks::Held held(locks_, name);
  RETURN_IF_ERROR(GetStudy(name));
  return store_.Apply({{"", name, std::nullopt}});
}

// Creates a trial with the user's values. It is suggested next, or is prior knowledge if its
// outcome is known already.
Result<Json> StudyService::CreateTrial(const std::string& study, Json trial) {
  const StudyLocks::Held held(locks_, study);
  ASSIGN_OR_RETURN(Open open, OpenStudy(study));
  ASSIGN_OR_RETURN(Json made, MakeOwnTrial(open.config, trial, Now()));
  const int64_t number = open.stored["next_trial"];
  open.stored["next_trial"] = number + 1;
  made["name"] = study + "/trials/" + std::to_string(number);
  const std::string parent = study.substr(0, study.rfind("/studies/"));
  RETURN_IF_ERROR(store_.Apply({{parent, study, open.stored}, {study, made["name"], made}}));
  return made;
}

Result<Json> StudyService::Trial(const std::string& name) const {
  ASSIGN_OR_RETURN(auto trial, store_.Get(name));
  if (!trial) return errors::TrialNotFound();
  return *std::move(trial);
}

Result<Json> StudyService::RunningTrial(const std::string& name) const {
  ASSIGN_OR_RETURN(Json trial, Trial(name));
  if (StringOr(trial, "state") == "COMPLETED") return errors::TrialEnded();
  return trial;
}

Result<Json> StudyService::SaveTrial(Json trial) {
  const std::string name = StringOr(trial, "name");
  RETURN_IF_ERROR(store_.Apply({{StudyOf(name), name, trial}}));
  return trial;
}

Result<Json> StudyService::GetTrial(const std::string& name) const { return Trial(name); }

Result<std::vector<Json>> StudyService::ListTrials(const std::string& study) const {
  RETURN_IF_ERROR(GetStudy(study));
  return store_.Below(study, study + "/trials/");
}

Status StudyService::DeleteTrial(const std::string& name) {
  const StudyLocks::Held held(locks_, StudyOf(name));
  RETURN_IF_ERROR(Trial(name));
  return store_.Apply({{"", name, std::nullopt}});
}

Result<Json> StudyService::AddMeasurement(const std::string& name, const Json& request) {
  const StudyLocks::Held held(locks_, StudyOf(name));
  ASSIGN_OR_RETURN(const Open open, OpenStudy(StudyOf(name)));
  ASSIGN_OR_RETURN(Json trial, RunningTrial(name));
  const Json* measurement = Member(request, "measurement");
  if (!measurement) return google::errors::Violations({errors::MeasurementMissing()});
  auto violations = CheckMeasurement(open.config, *measurement, "measurement", false);
  if (!IsNew(trial, *measurement)) {
    violations.push_back(errors::MeasurementOutOfOrder("measurement"));
  }
  if (!violations.empty()) return google::errors::Violations(std::move(violations));
  trial["measurements"].push_back(*measurement);
  return SaveTrial(std::move(trial));
}

Result<Json> StudyService::Complete(const std::string& name, const Json& request) {
  const StudyLocks::Held held(locks_, StudyOf(name));
  ASSIGN_OR_RETURN(const Open open, OpenStudy(StudyOf(name)));
  ASSIGN_OR_RETURN(Json trial, RunningTrial(name));
  RETURN_IF_ERROR(SetOutcome(open.config, request, trial));
  trial["state"] = "COMPLETED";
  trial["end_time"] = Now();
  // A trial that was never suggested starts here.
  if (!trial.contains("start_time")) trial["start_time"] = trial["end_time"];
  return SaveTrial(std::move(trial));
}

Result<Json> StudyService::Stop(const std::string& name) {
  const StudyLocks::Held held(locks_, StudyOf(name));
  ASSIGN_OR_RETURN(Json trial, RunningTrial(name));
  trial["state"] = "STOPPING";
  return SaveTrial(std::move(trial));
}

}  // namespace caip::api
