#include "emulator/api/errors.h"

#include "base/quoting.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api::errors {
namespace {

// The service's text for a mistake in a parameter that it finds before it calls a method.
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
  return {Code::kNotFound, std::string(method_id) +
                               " is not emulated: caip runs training jobs. docs/api.md lists "
                               "the methods of caip."};
}

Error ApiUnknown(std::string_view asked) {
  return {Code::kNotFound,
          "API " + Quoted(asked) + " does not exist here. /discovery/v1/apis lists the APIs."};
}

Error LocationNotFound(std::string_view name) {
  return google::errors::FieldError(Code::kNotFound, "name",
                                    "The location " + Quoted(name) +
                                        " could not be found. projects.locations.list lists all "
                                        "locations.");
}

Error OperationNotFound() {
  return google::errors::FieldError(Code::kNotFound, "name",
                                    "The operation could not be found. Training jobs create no "
                                    "operations.");
}

Error BodyNoObject() {
  return Payload("", "Invalid JSON payload received. The body must be one JSON object.");
}

Error BodyTooLarge(size_t limit) {
  return {Code::kInvalidArgument,
          "Request payload size exceeds the limit: " + std::to_string(limit) + " bytes."};
}

Error MeantForAnotherProcess(std::string_view wanted, int own) {
  return {Code::kFailedPrecondition, "The request is for the emulator with process id " +
                                         std::string(wanted) + ". This one has " +
                                         std::to_string(own) + "."};
}

Error CallbackRefused() {
  return Argument("callback",
                  "JSONP is not supported: the script of any page could read the answer. Leave "
                  "'callback' out and read JSON.");
}

Error AltUnknown(std::string_view value) {
  return Argument("alt", "Invalid value " + Quoted(value) + " for alt. Use json.");
}

Error AltRefused(std::string_view value) {
  return Argument("alt", "alt=" + std::string(value) +
                             " is not supported by this method. Use json, or leave it out.");
}

Error ErrorFormatUnknown(std::string_view value) {
  return Argument("$.xgafv", "Invalid value " + Quoted(value) + " for $.xgafv. Use 1 or 2.");
}

Error QueryParameterUnknown(std::string_view name) {
  return Payload("", "Invalid JSON payload received. Unknown name \"" + std::string(name) +
                         "\": Cannot bind query parameter. Field '" + std::string(name) +
                         "' could not be found in request message.");
}

Error ReadMaskBroken(std::string_view mask) {
  return Argument("readMask", "Invalid field mask " + Quoted(mask) +
                                  ": a path is empty. Write names of fields with commas between "
                                  "them, such as name,state.");
}

Error SelectorBroken(std::string_view selector, size_t offset, std::string_view why) {
  return Argument("fields", "Error expanding 'fields' parameter. " + Quoted(selector) +
                                " has a syntax error at character " + std::to_string(offset + 1) +
                                ": " + std::string(why));
}

Error SelectorUnknown(std::string_view path) {
  return Argument("fields",
                  "Error expanding 'fields' parameter. Cannot find matching fields for path " +
                      Quoted(path) + ".");
}

FieldViolation PolicyMissing() { return {"policy", "The policy to set is required."}; }

FieldViolation PolicyVersionUnknown(std::string field, long long version) {
  return {std::move(field),
          "Policy version " + std::to_string(version) + " does not exist. Use 0, 1 or 3."};
}

FieldViolation PolicyConditionNeedsVersion() {
  return {"policy.version", "A policy with a condition must have version 3."};
}

FieldViolation PolicyRoleMalformed(std::string_view role) {
  return {"policy.bindings.role",
          "Role " + Quoted(role) +
              " is not a valid role. Write it as roles/NAME, projects/PROJECT/roles/NAME or "
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
                             ". Use bindings, etag, version and audit_configs."};
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
  return {
      Code::kAborted,
      "There were concurrent policy changes. Read the policy again, apply the change, and set it "
      "with the new etag."};
}

Error PolicyBroken(std::string_view file) {
  return {Code::kDataLoss, "The policy in " + Quoted(file) + " cannot be read. Delete the file."};
}

Error StudyIdIllegal(std::string_view id) {
  return FieldError(Code::kInvalidArgument, "study_id",
                    "The study id " + Quoted(id) +
                        " is not valid. It must have 1 to 128 characters, only letters, digits, "
                        "'-' and '_'.");
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
                        " and has no REQUESTED trial. Only an ACTIVE study suggests new trials.");
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
  return {std::move(field), "The parameter " + Quoted(parameter) + " occurs twice."};
}

FieldViolation ParameterHasTwoValues(std::string field, std::string_view parameter) {
  return {std::move(field), "The parameter " + Quoted(parameter) +
                                " has several values. Set one of float_value, int_value and "
                                "string_value."};
}

FieldViolation TrialStateIllegal(std::string_view state) {
  return {"trial.state", "A trial cannot be created " + std::string(state) +
                             ". Leave the state out, or set it to REQUESTED, or to COMPLETED with "
                             "a final_measurement or trial_infeasible. The suggest method makes a "
                             "trial ACTIVE."};
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
                                  " is not valid. It must be from 1 to " + std::to_string(most) +
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
  return {std::string(field), "The metric " + Quoted(metric) + " is not a metric of the study."};
}

FieldViolation TooManyMetrics(std::string_view field, size_t count, size_t most) {
  return {std::string(field), "A measurement has at most " + std::to_string(most) +
                                  " metrics, not " + std::to_string(count) + "."};
}

FieldViolation MetricMissing(std::string_view field, std::string_view metric) {
  return {std::string(field), "The study's metric " + Quoted(metric) + " has no value."};
}

Error NothingMeasured() {
  return FieldError(Code::kFailedPrecondition, "final_measurement",
                    "No measurement of the trial has all metrics of the study. Send a "
                    "final_measurement, or set trial_infeasible.");
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
                               ", which a newer caip wrote. Use the newer version."};
}

}  // namespace caip::api::errors
