#include "spec/errors.h"

#include <cassert>
#include <utility>

#include "base/quoting.h"

namespace caip::spec {
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

// 'text', as all our messages show a value.

}  // namespace

int HttpStatus(Code code) { return RowOf(code).http; }
std::string_view StatusName(Code code) { return RowOf(code).name; }

namespace errors {

Error FieldError(Code code, std::string field, std::string description) {
  return Violations({{std::move(field), std::move(description)}}, code);
}

Error Violations(std::vector<FieldViolation> violations, Code code) {
  assert(!violations.empty());
  const FieldViolation& first = violations.front();
  std::string message = "Field: " + first.field + " Error: " + first.description;
  return {code, std::move(message), std::move(violations)};
}

Error JobAlreadyExists() {
  return FieldError(Code::kAlreadyExists, "job.job_id", "A job with this id already exists.");
}

Error JobNotFound() { return FieldError(Code::kNotFound, "name", "The job could not be found."); }

Error JobNameMalformed(std::string_view name) {
  return FieldError(Code::kInvalidArgument, "name",
                    "The name " + Quoted(name) +
                        " is no job's name. It must have the form projects/PROJECT/jobs/JOB.");
}

Error ParentMalformed(std::string_view parent) {
  return FieldError(Code::kInvalidArgument, "parent",
                    "The name " + Quoted(parent) +
                        " is no project's name. It must have the form projects/PROJECT.");
}

Error ProjectDenied(std::string_view project) {
  return {Code::kPermissionDenied,
          "Permission denied on resource project " + std::string(project) + "."};
}

Error CredentialsMissing() {
  return {Code::kUnauthenticated,
          "Request is missing required authentication credential. Expected OAuth 2 access token in "
          "the header 'Authorization: Bearer TOKEN'."};
}

Error CredentialsInvalid() {
  return {Code::kUnauthenticated,
          "Request had invalid authentication credentials. Expected OAuth 2 access token in the "
          "header 'Authorization: Bearer TOKEN'."};
}

Error BodyMalformed(const Error& cause) {
  const std::string text = "Invalid JSON payload received. " + cause.message;
  return {Code::kInvalidArgument, text, {{"", text}}};
}

Error BodyNoObject() {
  const std::string text =
      "Invalid JSON payload received. The body must be one JSON object, a Job: {\"jobId\": ...}.";
  return {Code::kInvalidArgument, text, {{"", text}}};
}

Error PageSizeNegative(long long page_size) {
  return FieldError(Code::kInvalidArgument, "page_size",
                    "The page size " + std::to_string(page_size) +
                        " is negative. Use 1 to 100, or 0 for the default of 20.");
}

Error PageTokenBroken() {
  return FieldError(Code::kInvalidArgument, "page_token",
                    "The page token is not one that this service gave out for this list. Pass "
                    "nextPageToken of the page before unchanged, or none to start again.");
}

Error FilterBroken(std::string_view filter, size_t offset, std::string_view why) {
  return FieldError(Code::kInvalidArgument, "filter",
                    "The filter " + Quoted(filter) + " is broken at character " +
                        std::to_string(offset + 1) + ": " + std::string(why));
}

Error UpdateMaskMissing() {
  return FieldError(Code::kInvalidArgument, "update_mask",
                    "The update mask is required. Name what to change: labels, etag.");
}

Error UpdateMaskIllegal(std::string_view path) {
  return FieldError(Code::kInvalidArgument, "update_mask",
                    "The field " + Quoted(path) +
                        " of a job cannot be updated. Only labels and etag can be named.");
}

Error EtagMissing() {
  return FieldError(Code::kInvalidArgument, "job.etag",
                    "The update mask names etag, but the body has none. Send the etag that the "
                    "job had when it was read.");
}

Error EtagStale() {
  return FieldError(Code::kAborted, "job.etag",
                    "The job was changed since it was read: its etag is another. Read it again "
                    "and repeat the update.");
}

Error JobQuotaExceeded(std::string_view project, std::string_view metric, long long limit) {
  const std::string text = "Quota exceeded for " + Quoted(metric) + " of project " +
                           Quoted(project) + ": the limit is " + std::to_string(limit) + ".";
  return {Code::kResourceExhausted, text, {{"project:" + std::string(project), text}}};
}

Error PredictionNotEmulated(std::string_view field) {
  return FieldError(Code::kUnimplemented, std::string(field),
                    "Prediction and explanation jobs are not emulated: only training jobs are. "
                    "Send training_input.");
}

Error ServiceBroken(std::string_view what) {
  return {Code::kInternal, "Internal error encountered: " + std::string(what)};
}

Error PackagesUnreadable(std::string_view service_account) {
  return FieldError(Code::kFailedPrecondition, "package_uris",
                    "The provided GCS paths cannot be read by service account " +
                        std::string(service_account) +
                        ". If you just enabled the API, please try again after a few minutes.");
}

Error JobDirBucketMissing(std::string_view bucket) {
  return FieldError(Code::kFailedPrecondition, "job_dir",
                    "The bucket " + Quoted(bucket) +
                        " of job_dir does not exist. Create the bucket, or name another one.");
}

Error JobDirUnwritable(std::string_view job_dir, std::string_view service_account) {
  return FieldError(Code::kFailedPrecondition, "job_dir",
                    "The GCS path " + Quoted(job_dir) + " cannot be written by service account " +
                        std::string(service_account) +
                        ". Grant it the right to create and delete objects, or name another path.");
}

namespace {
Error ResumeError(std::string_view job_id, std::string_view what) {
  return FieldError(Code::kInvalidArgument, "hyperparameters.resume_previous_job_id",
                    "The job " + Quoted(job_id) + " cannot be resumed: " + std::string(what));
}
}  // namespace

Error ResumedJobMissing(std::string_view job_id) {
  return ResumeError(job_id, "the project has no job of this id.");
}

Error ResumedJobNotTuning(std::string_view job_id) {
  return ResumeError(job_id, "it is no hyperparameter tuning job.");
}

Error ResumedJobUnfinished(std::string_view job_id) {
  return ResumeError(job_id, "it has not finished. Wait for its end, or cancel it.");
}

Error ResumedJobDiffers(std::string_view job_id, std::string_view what) {
  return ResumeError(
      job_id, "its " + std::string(what) + " must be the same as this job's, but they differ.");
}

Error NotAGcsUri() { return {Code::kInvalidArgument, "It must have the form gs://BUCKET/OBJECT."}; }

Error BucketNameIllegal(std::string_view bucket) {
  return {Code::kInvalidArgument,
          Quoted(bucket) +
              " is no bucket's name: 3 to 222 small letters, digits, '-', '_' and '.', a letter or "
              "digit at both ends, at most 63 between dots, and no IP address."};
}

Error ObjectNameIllegal() {
  return {Code::kInvalidArgument,
          "An object's name has at most 1024 bytes of UTF-8, and no line ends or NUL."};
}

Error CatalogBroken(std::string_view entry, std::string_view why) {
  return {Code::kInternal, "catalog: " + Quoted(entry) + ": " + std::string(why)};
}

Error StoredJobBroken(const Error& cause) {
  return {Code::kDataLoss, "A stored job cannot be read: " + cause.message, cause.violations};
}

}  // namespace errors
}  // namespace caip::spec
