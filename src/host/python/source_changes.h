#pragma once
// In which sources two source distributions (sdists) of a package differ, if a build installs
// sources as they are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// The largest sdist that is compared, in bytes.
inline constexpr uint64_t kComparedSdistBytesMax = 64 << 20;

/// A package of the earlier environment, and the same package now: sdists.
struct PackageUpdate {
  size_t index = 0;  // its place among the environment's packages
  Path before;
  Path after;
};

/// A source that differs. `member` is its name below the sdist's top directory.
struct ChangedSource {
  std::string member;
  std::optional<std::string> before;  // nullopt: the source is new
  std::optional<std::string> after;   // nullopt: the source is gone
};

/// The sources in which two sdists differ. nullopt if they also differ in another way (an
/// `__init__.py` more or less, another file, other metadata), or if their build may do more than
/// copy sources: it needs more than setuptools, setup.py is not plain (setup_script.h), a setting
/// is an attribute of a module, a setting names a changed source, or, for a source that is new or
/// gone, single modules.
Result<std::optional<std::vector<ChangedSource>>> ChangedSources(const PackageUpdate& update);

}  // namespace caip::host
