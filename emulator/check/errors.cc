#include "emulator/check/errors.h"

namespace caip::check::errors {
namespace {

Error Invalid(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

}  // namespace

Error FlagOfOtherJob(std::string_view flag, std::string_view owners, std::string_view kind) {
  return {Code::kInvalidArgument,
          std::string(flag) + " is a flag of " + std::string(owners) + ", and the job is a " +
              std::string(kind) +
              ". Leave it out, or describe another job: a custom job by --worker-pool-spec or a "
              "--config with workerPoolSpecs, a tuning job of Vertex AI by a --config with "
              "studySpec, a training job by other flags."};
}

Error NotABucketFolder(std::string_view word) {
  return Invalid("--bucket: '" + std::string(word) +
                 "' is not NAME=FOLDER with the name of a bucket and an existing folder.");
}

Error BucketIsTheJobs(std::string_view bucket) {
  return Invalid("--bucket: the bucket '" + std::string(bucket) +
                 "' contains the output of the job. Give the bucket another name.");
}

Error RuntimeModuleMissing(std::string_view module, std::string_view software,
                           std::string_view runtime_version) {
  const std::string version(runtime_version);
  const std::string install =
      version.empty() ? "Choose" : "Run `caip runtimes install " + version + "`, or choose";
  return {Code::kUnimplemented,
          std::string(software) + " has the module '" + std::string(module) +
              "', but the Python that ran the job does not have it. The run shows nothing about "
              "the trainer. " +
              install +
              " a Python that has the module with --python, or with `runtimes:` in the "
              "configuration."};
}

Error PythonNotFound() {
  return {Code::kNotFound,
          "The packages cannot be inspected: neither python3 nor python is on PATH."};
}

Error PackageInspectionFailed(std::string_view output) {
  return {Code::kInternal, "The inspection of the packages failed: " + std::string(output)};
}

}  // namespace caip::check::errors
