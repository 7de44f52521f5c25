#include "ml/errors.h"

#include <utility>

#include "base/quoting.h"
#include "google/errors.h"

namespace caip::ml::errors {
Error JobAlreadyExists() {
  return google::errors::FieldError(Code::kAlreadyExists, "job.job_id",
                                    "A job with this id already exists.");
}

Error JobNotFound() {
  return google::errors::FieldError(Code::kNotFound, "name", "The job could not be found.");
}

Error ProjectDenied(std::string_view project) {
  return {Code::kPermissionDenied,
          "Permission denied on resource project " + std::string(project) + "."};
}

Error BodyNoObject() {
  const std::string text =
      "Invalid JSON payload received. The body must be one JSON object, a Job: {\"jobId\": ...}.";
  return {Code::kInvalidArgument, text, {{"", text}}};
}

Error PageSizeNegative(long long page_size) {
  return google::errors::FieldError(Code::kInvalidArgument, "page_size",
                                    "The page size " + std::to_string(page_size) +
                                        " is negative. Use 1 to 100, or 0 for the default of 20.");
}

Error PageTokenBroken() {
  return google::errors::FieldError(
      Code::kInvalidArgument, "page_token",
      "The page token was not issued for this list. Pass nextPageToken from the previous page "
      "unchanged, or omit it.");
}

Error FilterBroken(std::string_view filter, size_t offset, std::string_view why) {
  return google::errors::FieldError(Code::kInvalidArgument, "filter",
                                    "The filter " + Quoted(filter) + " is broken at character " +
                                        std::to_string(offset + 1) + ": " + std::string(why));
}

Error UpdateMaskMissing() {
  return google::errors::FieldError(
      Code::kInvalidArgument, "update_mask",
      "The update mask is required. Name what to change: labels, etag.");
}

Error UpdateMaskIllegal(std::string_view path) {
  return google::errors::FieldError(
      Code::kInvalidArgument, "update_mask",
      "The field " + Quoted(path) +
          " of a job cannot be updated. Only labels and etag can be named.");
}

Error EtagMissing() {
  return google::errors::FieldError(
      Code::kInvalidArgument, "job.etag",
      "The update mask names etag, but the body has none. Send the etag that the "
      "job had when it was read.");
}

Error EtagStale() {
  return google::errors::FieldError(
      Code::kAborted, "job.etag",
      "The job was changed since it was read: its etag has changed. Read it again "
      "and repeat the update.");
}

Error PackagesUnreadable(std::string_view service_account) {
  return google::errors::FieldError(
      Code::kFailedPrecondition, "package_uris",
      "The provided GCS paths cannot be read by service account " + std::string(service_account) +
          ". If you just enabled the API, please try again after a few minutes.");
}

Error JobDirBucketMissing(std::string_view bucket) {
  return google::errors::FieldError(
      Code::kFailedPrecondition, "job_dir",
      "The bucket " + Quoted(bucket) +
          " of job_dir does not exist. Create the bucket, or name another one.");
}

Error JobDirUnwritable(std::string_view job_dir, std::string_view service_account) {
  return google::errors::FieldError(
      Code::kFailedPrecondition, "job_dir",
      "The GCS path " + Quoted(job_dir) + " cannot be written by service account " +
          std::string(service_account) +
          ". Grant it the right to create and delete objects, or name another path.");
}

Error NotResumable(const std::vector<std::string>& reasons) {
  std::vector<FieldViolation> violations;
  for (const std::string& reason : reasons) {
    violations.push_back({"hyperparameters.resume_previous_job_id", reason});
  }
  return google::errors::Violations(std::move(violations));
}

std::string ResumedMissing(std::string_view job_id) {
  return "There is no job " + Quoted(job_id) +
         " in this project. Name an earlier tuning job, or leave the field out.";
}

std::string ResumedNotTuning(std::string_view job_id) {
  return "The job " + Quoted(job_id) + " has no hyperparameters, so it has no trials to resume.";
}

std::string ResumedNotFinished(std::string_view job_id) {
  return "The job " + Quoted(job_id) +
         " has not ended. A study can be resumed only after its job has ended.";
}

std::string ResumedDiffers(std::string_view job_id, std::string_view field) {
  return "The job " + Quoted(job_id) + " differs in its " + std::string(field) +
         ". A study can be resumed only under the same params, goal and metric tag.";
}

Error CatalogBroken(std::string_view entry, std::string_view why) {
  return {Code::kInternal, "catalog: " + Quoted(entry) + ": " + std::string(why)};
}

Error StoredJobBroken(const Error& cause) { return {Code::kDataLoss, cause.message}; }

Error StoredJobUnreadable(std::string_view job, const Error& cause) {
  return {Code::kDataLoss, "The stored job " + Quoted(job) + " cannot be read: " + cause.message};
}

Error StoredJobWithoutInput() { return {Code::kDataLoss, "it has no trainingInput"}; }

}  // namespace caip::ml::errors
