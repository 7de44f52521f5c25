#include "google/errors.h"

#include <cassert>
#include <utility>

#include "base/quoting.h"
#include "base/text.h"

namespace caip::google {
namespace {

struct CodeRow {
  Code code;
  int http;
  std::string_view name;
};

// google/rpc/code.proto.
constexpr CodeRow kCodes[] = {
    {Code::kOk, 200, "OK"},
    {Code::kCancelled, 499, "CANCELLED"},
    {Code::kUnknown, 500, "UNKNOWN"},
    {Code::kInvalidArgument, 400, "INVALID_ARGUMENT"},
    {Code::kDeadlineExceeded, 504, "DEADLINE_EXCEEDED"},
    {Code::kNotFound, 404, "NOT_FOUND"},
    {Code::kAlreadyExists, 409, "ALREADY_EXISTS"},
    {Code::kPermissionDenied, 403, "PERMISSION_DENIED"},
    {Code::kResourceExhausted, 429, "RESOURCE_EXHAUSTED"},
    {Code::kFailedPrecondition, 400, "FAILED_PRECONDITION"},
    {Code::kAborted, 409, "ABORTED"},
    {Code::kOutOfRange, 400, "OUT_OF_RANGE"},
    {Code::kUnimplemented, 501, "UNIMPLEMENTED"},
    {Code::kInternal, 500, "INTERNAL"},
    {Code::kUnavailable, 503, "UNAVAILABLE"},
    {Code::kDataLoss, 500, "DATA_LOSS"},
    {Code::kUnauthenticated, 401, "UNAUTHENTICATED"},
};

const CodeRow& RowOf(Code code) {
  const size_t index = static_cast<size_t>(code);
  assert(index < std::size(kCodes) && kCodes[index].code == code);
  return kCodes[index];
}

}  // namespace

int HttpStatus(Code code) { return RowOf(code).http; }
std::string_view StatusName(Code code) { return RowOf(code).name; }

namespace errors {
namespace {

FieldViolation At(std::string_view path, std::string description) {
  return {std::string(path), std::move(description)};
}

// The start of a text that a client sent.
std::string Start(std::string_view text) {
  constexpr size_t kShownMax = 1000;
  if (text.size() <= kShownMax) return std::string(text);
  size_t end = kShownMax;
  while ((text[end] & 0xc0) == 0x80) --end;  // not inside a character of UTF-8
  return std::string(text.substr(0, end)) + "...";
}

// A violation about a name is reported at the message that contains the field.
FieldViolation BadName(std::string_view name, std::string_view path, std::string_view why) {
  return At(path, "Invalid JSON payload received. Unknown name \"" + Start(name) + "\" at '" +
                      std::string(path) + "': " + std::string(why));
}

// A request of a gigabyte can break a rule millions of times. The answer stays readable.
std::vector<FieldViolation> FirstOf(std::vector<FieldViolation> violations) {
  if (violations.size() <= kViolationsMax) return violations;
  const size_t more = violations.size() - kViolationsMax;
  violations.resize(kViolationsMax);
  violations.push_back({"", "And " + std::to_string(more) + " more."});
  return violations;
}

}  // namespace

Error FieldError(Code code, std::string field, std::string description) {
  return Violations({{std::move(field), std::move(description)}}, code);
}

Error Violations(std::vector<FieldViolation> violations, Code code) {
  assert(!violations.empty());
  const FieldViolation& first = violations.front();
  std::string message = "Field: " + first.field + " Error: " + first.description;
  return {code, std::move(message), FirstOf(std::move(violations))};
}

Error BodyMalformed(const Error& cause) {
  const std::string text = "Invalid JSON payload received. " + cause.message;
  return {Code::kInvalidArgument, text, {{"", text}}};
}

Error NotAGcsUri() { return {Code::kInvalidArgument, "It must have the form gs://BUCKET/OBJECT."}; }

Error BucketNameIllegal(std::string_view bucket) {
  return {Code::kInvalidArgument,
          Quoted(bucket) +
              " is not a valid bucket name. A bucket name has 3 to 222 lowercase letters, digits, "
              "'-', '_' and '.', starts and ends with a letter or digit, has at most 63 characters "
              "between dots, and is not an IP address."};
}

Error ObjectNameIllegal() {
  return {Code::kInvalidArgument,
          "An object name has at most 1024 bytes of UTF-8 and no line breaks or NUL."};
}

// Errors of the transcoder between JSON and messages.

FieldViolation UnknownName(std::string_view name, std::string_view path) {
  return BadName(name, path, "Cannot find field.");
}

FieldViolation InvalidValue(std::string_view path, std::string_view type, std::string_view shown) {
  return At(path, "Invalid value at '" + std::string(path) + "' (" + std::string(type) + "), " +
                      Start(shown));
}

FieldViolation InvalidFormat(std::string_view path, std::string_view type, std::string_view field,
                             std::string_view why) {
  return InvalidValue(path, type, "Field '" + std::string(field) + "', " + std::string(why));
}

FieldViolation ListForSingleField(std::string_view name, std::string_view path) {
  return BadName(name, path, "Proto field is not repeating, cannot start list.");
}

FieldViolation ValueForRepeatedField(std::string_view name, std::string_view path) {
  return BadName(name, path, "Proto field is repeating, a list is expected.");
}

FieldViolation NameSetTwice(std::string_view name, std::string_view path) {
  return BadName(name, path, "The field is set twice, under its two spellings.");
}

Error NotTheMessage(std::vector<FieldViolation> violations) {
  violations = FirstOf(std::move(violations));
  std::vector<std::string> lines;
  for (const FieldViolation& violation : violations) lines.push_back(violation.description);
  return {Code::kInvalidArgument, Join(lines, "\n"), std::move(violations)};
}

}  // namespace errors
}  // namespace caip::google
