#pragma once
// The Python package of the built-in algorithms, which is compiled in: module.cmake embeds the
// files of caip_algorithms/.

#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::algorithms {

/// A file of the package, by its name below caip_algorithms/.
struct PackageFile {
  std::string_view name;
  std::string_view text;
};

/// All files of the package, by name.
const std::vector<PackageFile>& PackageFiles();

/// Writes the package below the state directory, unless it exists, and returns the program to run:
/// `<state>/algorithms/<digest of the package>/train.py`. Another version of the package has
/// another directory, so the program of a running replica never changes. Any thread.
Result<Path> InstallPackage(const Path& state);

}  // namespace caip::algorithms
