#pragma once
// Errors that all of Google's APIs word in the same way, and the canonical codes in HTTP.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::google {

/// The HTTP status of a canonical code, as Google's APIs map it: kNotFound -> 404.
int HttpStatus(Code code);
/// "NOT_FOUND": the error's `status` in a response.
std::string_view StatusName(Code code);

namespace errors {

/// "Field: f Error: d", with that one violation.
Error FieldError(Code code, std::string field, std::string description);
/// The most violations in one error. One more says how many are left out.
inline constexpr size_t kViolationsMax = 100;

/// One error with the `violations`, at least one. Its message states the first.
Error Violations(std::vector<FieldViolation> violations, Code code = Code::kInvalidArgument);

/// The error for a request body that is not JSON.
Error BodyMalformed(const Error& cause);

// Violations that the transcoder finds. `path` is "job", "job.training_input", ...
FieldViolation UnknownName(std::string_view name, std::string_view path);
/// `type` is "TYPE_INT32" or "type.googleapis.com/..."; `shown` is the value as JSON.
FieldViolation InvalidValue(std::string_view path, std::string_view type, std::string_view shown);
/// A value of a known type that cannot be read; `field` is the name as it was sent.
FieldViolation InvalidFormat(std::string_view path, std::string_view type, std::string_view field,
                             std::string_view why);
FieldViolation ListForSingleField(std::string_view name, std::string_view path);
FieldViolation ValueForRepeatedField(std::string_view name, std::string_view path);
FieldViolation NameSetTwice(std::string_view name, std::string_view path);
/// One error with the transcoder's violations: their descriptions, one a line, without "Field:".
Error NotTheMessage(std::vector<FieldViolation> violations);

// Errors about gs:// URIs. They have no field, because only the caller knows it.
Error NotAGcsUri();
Error BucketNameIllegal(std::string_view bucket);
Error ObjectNameIllegal();

}  // namespace errors
}  // namespace caip::google
