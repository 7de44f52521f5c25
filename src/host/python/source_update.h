#pragma once
// Makes an environment from an earlier one if only sources of its packages have changed: a fraction
// of a second instead of two builds by pip. It leaves the files that pip would leave, except that
// compiled files of unchanged modules keep the earlier path inside, which Python corrects on
// import.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/python/source_changes.h"

namespace caip::host {

/// An environment, and its name in the paths of its scripts.
struct EnvironmentPlace {
  Path root;  // <state>/environments/<key>
  std::string key;
  Path site_packages;  // below root
};

/// Copies the environment `from` to `to`, and replaces the changed sources of its packages, their
/// compiled files and the lines of RECORD. False if a source is not installed as it is in its
/// sdist, is installed a second time, does not compile, or is new in a directory that is not a
/// package whose sources are all installed, or if a file of RECORD is then missing: `to` must be
/// made by pip. Files that do not change become hard links.
Result<bool> UpdateSources(const EnvironmentPlace& from, const EnvironmentPlace& to,
                           const std::vector<PackageUpdate>& updates);

}  // namespace caip::host
