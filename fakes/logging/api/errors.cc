#include "fakes/logging/api/errors.h"

#include "base/text.h"

namespace caip::logging::errors {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

}  // namespace

Error BodyMalformed(const std::string& why) {
  return Invalid("Invalid JSON payload received: " + why);
}

Error BodyNotAnObject() { return BodyMalformed("the body is not an object"); }

Error MemberUnknown(const std::string& name, const std::string& place) {
  return Invalid("Invalid JSON payload received. Unknown name \"" + name + "\"" +
                 (place.empty() ? "" : " at '" + place + "'") + ": Cannot find field.");
}

Error MemberMisfit(const std::string& place, const std::string& wanted) {
  return Invalid("Invalid value at '" + place + "': it must be " + wanted);
}

Error MemberMissing(const std::string& name) { return Invalid("Missing required field " + name); }

Error MaskPathsUnknown(const std::vector<std::string>& paths, const std::string& kind,
                       const std::string& known) {
  const bool is_one = paths.size() == 1;
  return Invalid("Invalid value at 'updateMask': '" + Join(paths, "', '") +
                 (is_one ? "' is not a field" : "' are not fields") + " of a " + kind +
                 ". Name any of these, separated by commas: " + known);
}

Error ResourceMissing(const std::string& place) {
  return Invalid("Missing required field " + place +
                 ".type: name the monitored resource, such as {\"type\": \"global\"}");
}

Error PayloadsDouble(const std::string& place) {
  return Invalid("Invalid value at '" + place +
                 "': only one of textPayload, jsonPayload and protoPayload may be set");
}

Error TimeTooLate(const std::string& place, const std::string& time) {
  return Invalid("Invalid value at '" + place + "': " + time +
                 " is more than 24 hours in the future");
}

Error EntryTooLong(const std::string& place, size_t bytes, size_t bytes_max) {
  return Invalid("Log entry " + place + " with size " + std::to_string(bytes) +
                 " exceeds maximum size of " + std::to_string(bytes_max));
}

Error EntriesTooLong(size_t bytes_max) {
  return Invalid(
      "The log entries, each with the labels and the resource of the request, have more than " +
      std::to_string(bytes_max) + " bytes: write fewer at a time");
}

Error EntriesRefused(Error first, size_t count, size_t shown) {
  if (count > shown) {
    first.message += " (" + std::to_string(count) + " entries are refused; the first " +
                     std::to_string(shown) + " are listed)";
  }
  return first;
}

Error ManyMembersRefused(std::vector<Error> kept, size_t count) {
  Error error = kept.front();
  for (size_t i = 1; i < kept.size(); ++i) error.message += "\n" + kept[i].message;
  if (count > kept.size()) {
    error.message += "\n" + std::to_string(count - kept.size()) + " more violations are not shown";
  }
  return error;
}

Error LogNameInvalid(const std::string& name) {
  return Invalid(
      "Invalid log name '" + name +
      "': it must be [projects|organizations|folders|billingAccounts]/ID/logs/LOG_ID. "
      "LOG_ID has at most 511 letters, digits and characters of /_-. , with / written as %2F");
}

Error ResourceNameInvalid(const std::string& name) {
  return Invalid("Invalid resource name '" + name +
                 "': it must be [projects|organizations|folders|billingAccounts]/ID, or a view of "
                 "its bucket _Default");
}

Error TooManyResources(size_t count, size_t most) {
  return Invalid(std::to_string(count) + " resource names were given; at most " +
                 std::to_string(most) + " are allowed");
}

Error OrderInvalid(const std::string& order) {
  return Invalid("Invalid orderBy '" + order + "': use \"timestamp asc\" or \"timestamp desc\"");
}

Error PageSizeNegative(long long asked) {
  return Invalid("page_size must not be negative, it is " + std::to_string(asked));
}

Error PageTokenInvalid() { return Invalid("page_token is invalid"); }

Error PageTokenMismatch() { return Invalid("page_token doesn't match arguments from the request"); }

Error ResourceNotFound(const std::string& kind, const std::string& name) {
  return {Code::kNotFound, kind + " " + name + " does not exist"};
}

Error ResourceExists(const std::string& kind, const std::string& name) {
  return {Code::kAlreadyExists, kind + " " + name + " already exists"};
}

Error MethodNotEmulated(const std::string& method) {
  return {Code::kUnimplemented, method + " is not emulated"};
}

}  // namespace caip::logging::errors
