#include "emulator/check/errors.h"

namespace caip::check::errors {
namespace {

Error Invalid(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

}  // namespace

Error FlagOfOtherJob(std::string_view flag, bool is_of_custom_jobs) {
  const std::string name(flag);
  return {Code::kInvalidArgument,
          is_of_custom_jobs
              ? name +
                    " is a flag of custom jobs. Describe the job by --worker-pool-spec, or by a "
                    "--config with workerPoolSpecs."
              : name +
                    " is a flag of training jobs, and the job is a custom job. Leave it out, or "
                    "describe a training job."};
}

Error NotABucketFolder(std::string_view word) {
  return Invalid("--bucket: '" + std::string(word) +
                 "' is not NAME=FOLDER with the name of a bucket and an existing folder.");
}

Error BucketIsTheJobs(std::string_view bucket) {
  return Invalid("--bucket: the bucket '" + std::string(bucket) +
                 "' contains the output of the job. Give the bucket another name.");
}

Error PythonNotFound() {
  return {Code::kNotFound,
          "The packages cannot be inspected: neither python3 nor python is on PATH."};
}

Error PackageInspectionFailed(std::string_view output) {
  return {Code::kInternal, "The inspection of the packages failed: " + std::string(output)};
}

}  // namespace caip::check::errors
