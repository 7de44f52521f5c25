#pragma once
// Uploads the packages of a submit command to Cloud Storage.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "client/connection.h"

namespace caip::client {

/// gs://bucket/prefix, below which a directory named by the digest is created.
struct StagingLocation {
  std::string bucket;
  std::string prefix;
};

/// --staging-bucket with the job's name, or else --job-dir with "packages"; nullopt without either.
/// Checks the names as late as gcloud does.
Result<std::optional<StagingLocation>> StagingLocationOf(
    const std::string& job, const std::optional<std::string>& staging_bucket,
    const std::optional<std::string>& job_dir);

/// A local file and the object that it is uploaded to.
struct StagedFile {
  Path file;
  std::string bucket;
  std::string object;
  std::string Uri() const { return "gs://" + bucket + "/" + object; }
};

/// Names the objects of `files`: prefix, digest, file name.
Result<std::vector<StagedFile>> StagedFiles(const StagingLocation& location,
                                            const std::string& digest,
                                            const std::vector<Path>& files);

/// Uploads each file, unless its object exists with the same bytes.
Status UploadFiles(Connection& connection, const std::vector<StagedFile>& files);

/// Creates a bucket unless it exists.
Status EnsureBucket(Connection& connection, const std::string& project, const std::string& bucket);

}  // namespace caip::client
