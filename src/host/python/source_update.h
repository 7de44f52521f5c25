#pragma once
// Makes an environment from an earlier one if only sources of its packages have changed: a fraction
// of a second instead of two builds by pip. It leaves the files that pip would leave, except that
// compiled files of unchanged modules keep the earlier path inside, which Python corrects on
// import.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// A package of the earlier environment, and the same package now: sdists.
struct PackageUpdate {
  size_t index = 0;  // its place among the environment's packages
  Path before;
  Path after;
};

/// A source that differs. `member` is its name below the sdist's top directory.
struct ChangedSource {
  std::string member;
  std::string before;
  std::string after;
};

/// The sources in which two sdists differ. nullopt if they also differ in another way (a file more,
/// other metadata), or if their build may do more than copy sources: it needs more than setuptools,
/// or setup.py names commands of its own.
Result<std::optional<std::vector<ChangedSource>>> ChangedSources(const PackageUpdate& update);

/// An environment, and its name in the paths of its scripts.
struct EnvironmentPlace {
  Path root;  // <state>/environments/<key>
  std::string key;
  Path site_packages;  // below root
};

/// Copies the environment `from` to `to`, and replaces the changed sources of its packages, their
/// compiled files and the lines of RECORD. False if a source is not installed as it is in its
/// sdist, or does not compile: then `to` must be made by pip. Files that do not change become hard
/// links.
Result<bool> UpdateSources(const EnvironmentPlace& from, const EnvironmentPlace& to,
                           const std::vector<PackageUpdate>& updates);

}  // namespace caip::host
