#include "emulator/api/optimizer/study_errors.h"

#include "base/quoting.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api::errors {
namespace {

using google::errors::FieldError;

}  // namespace

Error StudyIdIllegal(std::string_view id) {
  return FieldError(Code::kInvalidArgument, "study_id",
                    "The study id " + Quoted(id) +
                        " is illegal. It must have letters, digits, '-' and '_' only, at least "
                        "one and at most 128.");
}

Error StudyConfigMissing() {
  return FieldError(Code::kInvalidArgument, "study.study_config", "The field is required.");
}

Error StudyExists() {
  return FieldError(Code::kAlreadyExists, "study_id", "A study with this id already exists.");
}

Error StudyNotFound() {
  return FieldError(Code::kNotFound, "name", "The study could not be found.");
}

Error StudyNotActive(std::string_view state) {
  return FieldError(Code::kFailedPrecondition, "parent",
                    "The study is " + std::string(state) +
                        ", and no trial of it is REQUESTED; only an ACTIVE one has new ones.");
}

Error TrialNotFound() {
  return FieldError(Code::kNotFound, "name", "The trial could not be found.");
}

Error TrialEnded() {
  return FieldError(Code::kFailedPrecondition, "name", "The trial is COMPLETED already.");
}

Error StudyOperationNotFound() {
  return FieldError(Code::kNotFound, "name", "The operation could not be found.");
}

std::vector<FieldViolation> TrialParametersIllegal(const Error& cause) {
  std::vector<FieldViolation> violations;
  for (const FieldViolation& each : cause.violations) {
    violations.push_back({"trial.parameters", each.description});
  }
  return violations;
}

FieldViolation ParameterTwice(std::string field, std::string_view parameter) {
  return {std::move(field), "The parameter " + Quoted(parameter) + " is given twice."};
}

FieldViolation ParameterHasTwoValues(std::string field, std::string_view parameter) {
  return {std::move(field), "The parameter " + Quoted(parameter) +
                                " has several values. Set one of float_value, int_value and "
                                "string_value."};
}

FieldViolation TrialStateIllegal(std::string_view state) {
  return {"trial.state", "A trial cannot be created " + std::string(state) +
                             ". Leave the state out, or set it to REQUESTED, or to COMPLETED with "
                             "a final_measurement or trial_infeasible; suggest makes it ACTIVE."};
}

FieldViolation OutcomeMissing() {
  return {"trial.final_measurement",
          "A COMPLETED trial needs a measurement of each of the study's metrics, or "
          "trial_infeasible."};
}

FieldViolation NegativeProgress(std::string field) {
  return {std::move(field), "The value must not be negative."};
}

FieldViolation SuggestionCountIllegal(long long count, long long most) {
  return {"suggestion_count", "The count " + std::to_string(count) +
                                  " is illegal. It must be from 1 to " + std::to_string(most) +
                                  "."};
}

FieldViolation ClientIdMissing() { return {"client_id", "The field is required."}; }
FieldViolation MeasurementMissing() { return {"measurement", "The field is required."}; }

FieldViolation MeasurementOutOfOrder(std::string_view field) {
  return {std::string(field),
          "The measurement must come after the trial's last one, by step_count or, at the same "
          "step, by elapsed_time."};
}

FieldViolation MetricUnknown(std::string_view field, std::string_view metric) {
  return {std::string(field), "The metric " + Quoted(metric) + " is none of the study's."};
}

FieldViolation MetricMissing(std::string_view field, std::string_view metric) {
  return {std::string(field), "The study's metric " + Quoted(metric) + " has no value."};
}

Error NothingMeasured() {
  return FieldError(Code::kFailedPrecondition, "final_measurement",
                    "No measurement of the trial has all of the study's metrics. Give a "
                    "final_measurement, or say that it is infeasible with trial_infeasible.");
}

std::string TrialShouldStop(std::string_view trial, std::string_view why) {
  return std::string(trial) + " should stop: " + std::string(why);
}

Error StudyStoreFailed(Code, const Path& file, std::string_view why) {
  return {Code::kInternal,
          "cannot use the studies in '" + file.string() + "': " + std::string(why)};
}

Error StudyStoreTooNew(const Path& file, int64_t version) {
  return {Code::kDataLoss, "'" + file.string() + "' has version " + std::to_string(version) +
                               ", which a newer caip wrote. Use that one."};
}

}  // namespace caip::api::errors
