#pragma once
// Turns the flags and files of `ai custom-jobs create` and `ai hp-tuning-jobs create` into the job
// that is sent: the client's checks in gcloud's order, the merge, and the requests.

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "client/connection.h"
#include "client/vertex/custom_job.h"
#include "client/vertex/job_name.h"
#include "client/vertex/local_image.h"
#include "client/vertex/tuning_job.h"

namespace caip::client::vertex {

/// What both create commands take besides the fields of the job.
struct CreateRequest {
  GcloudContext gcloud;
  std::optional<std::string> region;  // --region
  std::optional<std::string> config;  // --config FILE; "-" is the standard input
  KmsFlags kms;                       // becomes the flags' kms_key when the project is known
  bool strict = false;                // traps (custom_job.h, tuning_job.h) become errors
};

struct CustomJobRequest : CreateRequest {
  CustomJobFlags flags;
};

struct TuningJobRequest : CreateRequest {
  TuningJobFlags flags;
};

/// A job that is ready to be sent.
struct PreparedJob {
  JobKind kind = JobKind::kCustomJob;
  Location location;
  Json job;
  std::optional<LocalImage> image = {};  // that the pools name
  /// What the service rejects in the file of --config, with places and remedies; "" if nothing.
  /// Begins with a line end.
  std::string hints = {};
};

struct PreparationOptions {
  const Clock& clock;  // for the name of an image
  std::function<Result<std::string>()> read_input;
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Sends nothing and writes nothing. The message of an error is complete: it lists the mistakes in
/// the file of --config with line and column.
Result<PreparedJob> Prepare(const CustomJobRequest& request, const PreparationOptions& options);
Result<PreparedJob> Prepare(const TuningJobRequest& request, const PreparationOptions& options);

/// Creates the bucket of the job's output unless it exists.
Status EnsureOutputBucket(Connection& connection, const PreparedJob& prepared);

/// Sends the job and returns the resource of the response. An error reads as gcloud prints it.
Result<Json> CreateJob(Connection& connection, const PreparedJob& prepared);

/// Lets the emulator run the service's checks of the job without creating it.
Status CheckJob(Connection& connection, const PreparedJob& prepared);

/// Sends a request about one job. If the job does not exist, the error says how to list jobs.
Result<Json> CallForJob(Connection& connection, const http::ClientRequest& request,
                        const JobName& name);

}  // namespace caip::client::vertex
