#include "vertex/errors.h"

#include <utility>

#include "base/quoting.h"
#include "base/text.h"
#include "google/errors.h"

namespace caip::vertex::errors {
namespace {

Error One(std::string field, std::string message, Code code = Code::kInvalidArgument) {
  return ListOfErrors({{std::move(field), std::move(message)}}, code);
}

}  // namespace

Error JobNotFound() { return {Code::kNotFound, "The CustomJob does not exist."}; }

Error PipelineNotFound() { return {Code::kNotFound, "The TrainingPipeline does not exist."}; }

Error TuningJobNotFound() {
  return {Code::kNotFound, "The HyperparameterTuningJob does not exist."};
}

Error TrialNotItsOwn(std::string_view name, std::string_view tuning_job) {
  return {Code::kFailedPrecondition, "The CustomJob " + Quoted(name) + " is a trial of " +
                                         Quoted(tuning_job) +
                                         ", and ends with it. Cancel or delete that job."};
}

Error JobAlreadyExists() {
  return {Code::kAlreadyExists, "A CustomJob with this id already exists. Create it again."};
}

Error JobHasNotEnded(std::string_view resource, std::string_view name, std::string_view state) {
  return {Code::kFailedPrecondition,
          "The " + std::string(resource) + " " + Quoted(name) + " has not ended: its state is " +
              std::string(state) +
              ". Only a job that has ended can be deleted. Cancel it, and wait for its end."};
}

Error BodyNoObject(std::string_view resource) {
  const std::string text = "Invalid JSON payload received. The body must be one JSON object, a " +
                           std::string(resource) + ": {\"displayName\": ...}.";
  return {Code::kInvalidArgument, text, {{"", text}}};
}

Error LocationUnknown(std::string_view location, const std::vector<std::string>& known) {
  return One("parent", Quoted(location) + " is not a region of custom training. Use one of: " +
                           Join(known, ", ") + ".");
}

Error PageSizeNegative(long long page_size) {
  return One("page_size", "The page size " + std::to_string(page_size) +
                              " is negative. Use 1 to 100, or 0 for the default of 100.");
}

Error PageTokenBroken() {
  return One("page_token",
             "The page token was not issued for this list. Pass nextPageToken from the previous "
             "page unchanged, or omit it.");
}

Error FilterBroken(std::string_view filter, size_t offset, std::string_view why) {
  return One("filter", "The filter " + Quoted(filter) + " is broken at character " +
                           std::to_string(offset + 1) + ": " + std::string(why));
}

Error OperationNotFound(std::string_view name) {
  return {Code::kNotFound, "The operation " + Quoted(name) + " does not exist."};
}

Error NotServed(std::string_view what) {
  return {Code::kUnimplemented,
          "caip does not serve " + Quoted(what) +
              ". It serves custom jobs, tuning jobs and pipelines of Vertex AI, and what runs "
              "them. Remove the field, or call "
              "another method."};
}

Error FieldsNotServed(std::vector<FieldViolation> violations) {
  std::string message;
  size_t number = 0;
  for (const FieldViolation& violation : violations) {
    if (++number > google::errors::kViolationsMax) break;
    message += (message.empty() ? "" : " ") + violation.field + ": " + violation.description;
  }
  Error error = google::errors::Violations(std::move(violations), Code::kUnimplemented);
  error.message = std::move(message);
  return error;
}

Error PersistentResourceNotFound(std::string_view id) {
  return {Code::kNotFound,
          "The PersistentResource " + Quoted(id) +
              " does not exist. List it below persistent_resources of config.yaml, or omit "
              "persistentResourceId."};
}

Error ListOfErrors(std::vector<FieldViolation> violations, Code code) {
  std::string message = "List of found errors:\t";
  size_t number = 0;
  for (const FieldViolation& violation : violations) {
    if (++number > google::errors::kViolationsMax) break;
    message += std::to_string(number) + ".Field: " + violation.field +
               "; Message: " + violation.description + "\t";
  }
  Error error = google::errors::Violations(std::move(violations), code);
  error.message = std::move(message);
  return error;
}

FieldViolation PackageUnreadable(std::string field, std::string_view uri,
                                 std::string_view service_account) {
  return {std::move(field), "The package " + Quoted(uri) + " cannot be read by service account " +
                                std::string(service_account) +
                                ". Upload it, or grant the account the right to read it."};
}

FieldViolation OutputBucketMissing(std::string_view bucket) {
  return {
      "job_spec.base_output_directory.output_uri_prefix",
      "The bucket " + Quoted(bucket) + " does not exist. Create the bucket, or name another one."};
}

FieldViolation OutputUnwritable(std::string_view uri, std::string_view service_account) {
  return {"job_spec.base_output_directory.output_uri_prefix",
          "The path " + Quoted(uri) + " cannot be written by service account " +
              std::string(service_account) +
              ". Grant it the right to create and delete objects, or name another path."};
}

Error CatalogBroken(std::string_view entry, std::string_view why) {
  return {Code::kInternal, "catalog: " + Quoted(entry) + ": " + std::string(why)};
}

Error StoredJobBroken(std::string_view why) { return {Code::kDataLoss, std::string(why)}; }

Error StoredJobUnreadable(std::string_view job, const Error& cause) {
  return {Code::kDataLoss, "The stored job " + Quoted(job) + " cannot be read: " + cause.message};
}

}  // namespace caip::vertex::errors
