#pragma once
// From a submit's flags and files to the Job that is sent: the client's checks in gcloud's order,
// packages, the merge; then the upload and the request.

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
  std::vector<StagedFile> staged;                  // files that the job needs in Cloud Storage
  std::vector<std::string> remote_packages;        // packages that are there already
  std::shared_ptr<TemporaryDirectory> built = {};  // holds files of `staged`
};

struct PreparationOptions {
  bool read_only_cache = false;  // the package cache is not written to
  std::stop_token stop = {};     // ends the build of a package
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Uploads nothing, and writes only what a package's own build does. The message of an error is
/// complete: mistakes in the file of --config are listed with line and column.
Result<PreparedJob> PrepareJob(const SubmitRequest& request, const PreparationOptions& options);

/// Uploads the files of `prepared`. `create_buckets`: missing buckets are created first.
Status StageFiles(Connection& connection, const PreparedJob& prepared, bool create_buckets);

/// Sends the job; the Job as the service answers it. An error reads as gcloud prints it.
Result<Json> CreateJob(Connection& connection, const PreparedJob& prepared);

/// Asks the emulator for the service's own checks of the job; nothing is created.
Status CheckJob(Connection& connection, const PreparedJob& prepared);

}  // namespace caip::client
