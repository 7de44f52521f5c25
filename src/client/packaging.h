#pragma once
// Finds the files to upload and the gs:// objects to pass on for --package-path and --packages.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// The packages that a submit command names.
struct PackageRequest {
  std::vector<std::string> packages;        // --packages
  std::optional<std::string> package_path;  // --package-path
  Path cache;                               // the directory of built packages
  bool read_only_cache = false;             // do not write to the cache
  std::stop_token stop = {};                // ends a build
};

/// The packages of a job, in order. Owns the directory in which packages were built.
struct PackageFiles {
  std::vector<std::string> remote;  // gs:// objects, passed on unchanged
  std::vector<Path> local;
  std::shared_ptr<TemporaryDirectory> keep = {};
};

/// kInvalidArgument if --package-path names no folder. The error suggests a package beside it.
Status CheckPackageFolder(const std::string& package_path);

/// The directory that has the package's, absolute: /src for `trainer/` in /src. "" for no package.
Path ParentOfPackage(const std::optional<std::string>& package_path);

/// Sorts --packages and builds --package-path. Only a package's own setup.py writes into the source
/// tree.
Result<PackageFiles> CollectPackages(const PackageRequest& request);

/// The hex SHA-256 of the contents of all `files` in order, which names the directory they are
/// uploaded to. Rejects two files of the same name, and unreadable files.
Result<std::string> DigestOf(const std::vector<Path>& files);

}  // namespace caip::client
