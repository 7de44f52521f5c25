#pragma once
// Turns the flags and files of a submit command into the Job that is sent: the client's checks in
// gcloud's order, the packages, the merge, the upload and the request.

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "client/connection.h"
#include "client/staging.h"
#include "client/submit_flags.h"

namespace caip::client {

/// A job that is ready to be sent.
struct PreparedJob {
  std::string project;
  Json job;
  std::vector<StagedFile> staged;                  // files to upload for the job
  std::vector<std::string> remote_packages;        // packages that are in Cloud Storage already
  std::shared_ptr<TemporaryDirectory> built = {};  // owns files of `staged`
  /// What the service rejects in the file of --config, with places and remedies; "" if nothing.
  /// Begins with a line end.
  std::string hints = {};
};

struct PreparationOptions {
  bool read_only_cache = false;  // the package cache is not written to
  std::stop_token stop = {};     // ends the build of a package
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Uploads nothing, and writes only the files of package builds. The message of an error is
/// complete: it lists the mistakes in the file of --config with line and column.
Result<PreparedJob> PrepareJob(const SubmitRequest& request, const PreparationOptions& options);

/// Uploads the files of `prepared`. `create_buckets`: missing buckets are created first.
Status StageFiles(Connection& connection, const PreparedJob& prepared, bool create_buckets);

/// Sends the job and returns the Job of the response. An error reads as gcloud prints it.
Result<Json> CreateJob(Connection& connection, const PreparedJob& prepared);

/// Lets the emulator run the service's checks of the job without creating it.
Status CheckJob(Connection& connection, const PreparedJob& prepared);

}  // namespace caip::client
