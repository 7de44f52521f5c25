#pragma once
// --package-path and --packages -> the files to upload and the gs:// objects to pass on.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// What a submit is asked to ship.
struct PackageRequest {
  std::vector<std::string> packages;        // --packages
  std::optional<std::string> package_path;  // --package-path
  Path cache;                               // where built packages are kept
  bool read_only_cache = false;             // nothing is to be written but a build's own files
  std::stop_token stop = {};                // ends a build
};

/// What has to be uploaded, in order. Owns the directory in which packages were built.
struct PackageFiles {
  std::vector<std::string> remote;  // gs:// objects, passed on as they are
  std::vector<Path> local;
  std::shared_ptr<TemporaryDirectory> keep = {};
};

/// Sorts --packages and builds --package-path. Touches the source tree only as its own setup.py
/// does.
Result<PackageFiles> CollectPackages(const PackageRequest& request);

/// The hex SHA-256 over the contents of all `files` in order: the directory they are uploaded to.
/// Refuses two of the same name and files that cannot be read.
Result<std::string> DigestOf(const std::vector<Path>& files);

}  // namespace caip::client
