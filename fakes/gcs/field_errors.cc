// Errors of the fields of resources: wrong types and values, and too many entries.

#include <algorithm>
#include <utility>

#include "base/quoting.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs::errors {
namespace {

constexpr size_t kMessagesJoined = 10;
constexpr size_t kMemberShownMax = 200;

}  // namespace

// Clients show the message only. The response lists each violation of `kept`, too.
Error ManyFieldsInvalid(Error first, std::vector<FieldViolation> kept, size_t count) {
  const size_t joined = std::min(kept.size(), kMessagesJoined);
  for (size_t i = 1; i < joined; ++i) first.message += " " + kept[i].description;
  if (count > joined) {
    first.message += " " + std::to_string(count - joined) + " more violations are not shown.";
  }
  first.violations = std::move(kept);
  return first;
}

Error TooManyEntries(std::string_view what, std::string_view whole, size_t most) {
  return {Code::kInvalidArgument, "Invalid argument: " + std::string(whole) + " can have at most " +
                                      std::to_string(most) + " " + std::string(what) + "."};
}

// The reason is the documented one; the words are those of Google's older JSON APIs.
// https://cloud.google.com/storage/docs/json_api/v1/status-codes#400-bad-request
Error BooleanInvalid(std::string_view value) {
  Error error{Code::kInvalidArgument,
              "Invalid boolean value: '" + std::string(value.substr(0, kMemberShownMax)) + "'."};
  error.reason = "invalidParameter";
  return error;
}

Error ChoiceInvalid(std::string_view value, std::string_view allowed) {
  Error error{Code::kInvalidArgument, "Invalid string value: '" +
                                          std::string(value.substr(0, kMemberShownMax)) +
                                          "'. Allowed values: [" + std::string(allowed) + "]."};
  error.reason = "invalidParameter";
  return error;
}

// The words of the service.
Error PolicyRoleMalformed(std::string_view role) {
  return {Code::kInvalidArgument,
          "The role name must be in the form \"roles/{role}\", "
          "\"organizations/{organization_id}/roles/{role}\", or "
          "\"projects/{project_id}/roles/{role}\". It is " +
              Quoted(role.substr(0, kMemberShownMax)) + "."};
}

// The words of the service.
Error PolicyMemberUnknown(std::string_view member) {
  return {Code::kInvalidArgument, "The member " + std::string(member.substr(0, kMemberShownMax)) +
                                      " is of an unknown type. Please set a valid type prefix for "
                                      "the member."};
}

// The words of the service.
Error ConditionsNeedUniformAccess() {
  Error error{Code::kFailedPrecondition,
              "To set IAM conditions in this bucket, enable uniform bucket-level access."};
  error.reason = "conditionNotMet";
  return error;
}

// The words of the service.
Error NotificationsOverlap(size_t most) {
  return {Code::kInvalidArgument,
          "Too many overlapping notifications. The maximum is " + std::to_string(most) + "."};
}

}  // namespace caip::gcs::errors
