#include "emulator/api/errors.h"

#include "base/quoting.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api::errors {
namespace {

// As the service words what it finds in a parameter before any method sees it.
Error Argument(std::string field, std::string description) {
  return {Code::kInvalidArgument,
          "Request contains an invalid argument.",
          {{std::move(field), std::move(description)}}};
}

Error Payload(std::string field, std::string text) {
  return {Code::kInvalidArgument, text, {{std::move(field), text}}};
}

using google::errors::FieldError;

}  // namespace

Error NotEmulated(std::string_view method_id) {
  return {Code::kUnimplemented, std::string(method_id) +
                                    " is not emulated: caip runs training jobs. Its methods are "
                                    "listed in docs/api.md."};
}

Error ApiUnknown(std::string_view asked) {
  return {Code::kNotFound, "There is no API " + Quoted(asked) +
                               " here; /discovery/v1/apis lists those that there are."};
}

Error LocationNotFound(std::string_view name) {
  return google::errors::FieldError(Code::kNotFound, "name",
                                    "The location " + Quoted(name) +
                                        " could not be found; projects.locations.list tells which "
                                        "there are.");
}

Error OperationNotFound() {
  return google::errors::FieldError(Code::kNotFound, "name",
                                    "The operation could not be found. Training jobs make no "
                                    "operations.");
}

Error BodyNoObject() {
  return Payload("", "Invalid JSON payload received. The body must be one JSON object.");
}

Error BodyTooLarge(size_t limit) {
  return {Code::kInvalidArgument,
          "Request payload size exceeds the limit: " + std::to_string(limit) + " bytes."};
}

Error CallbackRefused() {
  return Argument("callback",
                  "JSONP is not served: a script of any page could read the answer. Leave "
                  "'callback' out, and read JSON.");
}

Error AltUnknown(std::string_view value) {
  return Argument("alt", "Invalid value " + Quoted(value) + " for alt; use json.");
}

Error AltRefused(std::string_view value) {
  return Argument("alt", "alt=" + std::string(value) +
                             " is not served for this method; use json, or leave it out.");
}

Error ErrorFormatUnknown(std::string_view value) {
  return Argument("$.xgafv", "Invalid value " + Quoted(value) + " for $.xgafv; use 1 or 2.");
}

Error QueryParameterUnknown(std::string_view name) {
  return Payload("", "Invalid JSON payload received. Unknown name \"" + std::string(name) +
                         "\": Cannot bind query parameter. Field '" + std::string(name) +
                         "' could not be found in request message.");
}

Error SelectorBroken(std::string_view selector, size_t offset, std::string_view why) {
  return Argument("fields", "Error expanding 'fields' parameter. " + Quoted(selector) +
                                " is broken at character " + std::to_string(offset + 1) + ": " +
                                std::string(why));
}

Error SelectorUnknown(std::string_view path) {
  return Argument("fields",
                  "Error expanding 'fields' parameter. Cannot find matching fields for path " +
                      Quoted(path) + ".");
}

FieldViolation PolicyMissing() { return {"policy", "The policy to set is required."}; }

FieldViolation PolicyVersionUnknown(std::string field, long long version) {
  return {std::move(field),
          "There is no policy version " + std::to_string(version) + "; use 0, 1 or 3."};
}

FieldViolation PolicyConditionNeedsVersion() {
  return {"policy.version", "A policy with a condition must have version 3."};
}

FieldViolation PolicyRoleMalformed(std::string_view role) {
  return {"policy.bindings.role",
          "Role " + Quoted(role) +
              " has not the form roles/NAME, projects/PROJECT/roles/NAME or "
              "organizations/ORGANIZATION/roles/NAME."};
}

FieldViolation PolicyMembersMissing(std::string_view role) {
  return {"policy.bindings.members", "The binding of " + Quoted(role) + " has no members."};
}

FieldViolation PolicyMemberMalformed(std::string_view member) {
  return {"policy.bindings.members",
          "Member " + Quoted(member) +
              " must be allUsers, allAuthenticatedUsers or TYPE:NAME, with a type such as user, "
              "serviceAccount, group or domain."};
}

FieldViolation PolicyMaskIllegal(std::string_view path) {
  return {"update_mask", "A policy has no field " + Quoted(path) +
                             "; use bindings, etag, version and audit_configs."};
}

FieldViolation PermissionWildcard(std::string_view permission) {
  return {"permissions",
          "Permission " + Quoted(permission) + " must be a full name, without wildcards."};
}

FieldViolation PermissionUnknown(std::string_view permission) {
  return {"permissions",
          "Permission " + std::string(permission) + " is not valid for this resource."};
}

Error PolicyEtagStale() {
  return {Code::kAborted,
          "There were concurrent policy changes. Read the policy again, make the change in it, and "
          "set it with the etag that was read."};
}

Error PolicyBroken(std::string_view file) {
  return {Code::kDataLoss, "The policy in " + Quoted(file) + " cannot be read; delete the file."};
}

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
