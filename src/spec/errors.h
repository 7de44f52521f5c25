#pragma once
// Every text that a user of the ML API can read in an error is made here or, for the rules of a
// Job, in violations.h. A maker is named after the failure and takes the facts.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::spec {

/// The HTTP status of a canonical code, as Google's APIs map it: kNotFound -> 404.
int HttpStatus(Code code);
/// "NOT_FOUND": the error's `status` in an answer.
std::string_view StatusName(Code code);

namespace errors {

/// "Field: f Error: d", with that one violation: how the service words what a field is guilty of.
Error FieldError(Code code, std::string field, std::string description);
/// All of `violations` in one error; its message tells the first. There must be one.
Error Violations(std::vector<FieldViolation> violations, Code code = Code::kInvalidArgument);

// Requests about jobs.
Error JobAlreadyExists();
Error JobNotFound();
Error JobNameMalformed(std::string_view name);
Error ParentMalformed(std::string_view parent);
Error ProjectDenied(std::string_view project);
Error CredentialsMissing();
Error CredentialsInvalid();
Error BodyMalformed(const Error& cause);
Error BodyNoObject();
Error PageSizeNegative(long long page_size);
Error PageTokenBroken();
Error FilterBroken(std::string_view filter, size_t offset, std::string_view why);
Error UpdateMaskMissing();
Error UpdateMaskIllegal(std::string_view path);
Error EtagMissing();
Error EtagStale();
Error JobQuotaExceeded(std::string_view project, std::string_view metric, long long limit);
Error PredictionNotEmulated(std::string_view field);
Error ServiceBroken(std::string_view what);

// Found when a job is created, by looking at Cloud Storage.
Error PackagesUnreadable(std::string_view service_account);
Error JobDirBucketMissing(std::string_view bucket);
Error JobDirUnwritable(std::string_view job_dir, std::string_view service_account);
Error ResumedJobMissing(std::string_view job_id);
Error ResumedJobNotTuning(std::string_view job_id);
Error ResumedJobUnfinished(std::string_view job_id);
Error ResumedJobDiffers(std::string_view job_id, std::string_view what);

// Of places in Cloud Storage; without a field, which only the caller knows.
Error NotAGcsUri();
Error BucketNameIllegal(std::string_view bucket);
Error ObjectNameIllegal();

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

// Of our own data.
Error CatalogBroken(std::string_view entry, std::string_view why);
Error StoredJobBroken(const Error& cause);

}  // namespace errors
}  // namespace caip::spec
