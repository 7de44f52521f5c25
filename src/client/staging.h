#pragma once
// Where the packages of a submit go in Cloud Storage, and how they get there.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "client/connection.h"

namespace caip::client {

/// gs://bucket/prefix, below which the digest's directory is made.
struct StagingLocation {
  std::string bucket;
  std::string prefix;
};

/// --staging-bucket with the job's name, else --job-dir with "packages"; nullopt without either.
/// The names are checked as late as gcloud does it.
Result<std::optional<StagingLocation>> StagingLocationOf(
    const std::string& job, const std::optional<std::string>& staging_bucket,
    const std::optional<std::string>& job_dir);

/// A file and the object it becomes.
struct StagedFile {
  Path file;
  std::string bucket;
  std::string object;
  std::string Uri() const { return "gs://" + bucket + "/" + object; }
};

/// The objects of `files`: prefix, digest, file name.
Result<std::vector<StagedFile>> StagedFiles(const StagingLocation& location,
                                            const std::string& digest,
                                            const std::vector<Path>& files);

/// Uploads what is not there already with the same bytes.
Status UploadFiles(Connection& connection, const std::vector<StagedFile>& files);

/// Makes a bucket unless it is there.
Status EnsureBucket(Connection& connection, const std::string& project, const std::string& bucket);

}  // namespace caip::client
