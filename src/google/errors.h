#pragma once
// Errors that all of Google's APIs word in the same way, and the canonical codes as HTTP has them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::google {

/// The HTTP status of a canonical code, as Google's APIs map it: kNotFound -> 404.
int HttpStatus(Code code);
/// "NOT_FOUND": the error's `status` in an answer.
std::string_view StatusName(Code code);

namespace errors {

/// "Field: f Error: d", with that one violation.
Error FieldError(Code code, std::string field, std::string description);
/// All of `violations` in one error; its message states the first. There must be one.
Error Violations(std::vector<FieldViolation> violations, Code code = Code::kInvalidArgument);

/// The body of a request is not JSON.
Error BodyMalformed(const Error& cause);

// Of the transcoder between JSON and messages; `path` is "job", "job.training_input", ...
FieldViolation UnknownName(std::string_view name, std::string_view path);
/// `type` is "TYPE_INT32" or "type.googleapis.com/..."; `shown` is the value as JSON.
FieldViolation InvalidValue(std::string_view path, std::string_view type, std::string_view shown);
/// A value of a known type that cannot be read; `field` is the name as it was sent.
FieldViolation InvalidFormat(std::string_view path, std::string_view type, std::string_view field,
                             std::string_view why);
FieldViolation ListForSingleField(std::string_view name, std::string_view path);
FieldViolation ValueForRepeatedField(std::string_view name, std::string_view path);
FieldViolation NameSetTwice(std::string_view name, std::string_view path);
/// What the transcoder found, joined by newlines as it joins them; without "Field:".
Error NotTheMessage(std::vector<FieldViolation> violations);

// Of places in Cloud Storage; without a field, which only the caller knows.
Error NotAGcsUri();
Error BucketNameIllegal(std::string_view bucket);
Error ObjectNameIllegal();

}  // namespace errors
}  // namespace caip::google
