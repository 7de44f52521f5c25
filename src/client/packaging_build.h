#pragma once
// Builds a source distribution with `setup.py sdist`, as gcloud does.

#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// The Python programs that may build packages, in the order of the attempts: $CLOUDSDK_PYTHON,
/// python3 and python on PATH, /usr/bin/python3.
std::vector<std::string> BuildPythons();

/// Builds `package` (a directory name) below `root` into `output` and returns the sorted paths of
/// the results. A root without setup.py is built with a generated one and not written to. A root
/// with a setup.py that is not writable is copied. kCancelled: `stop` was requested, and the tool
/// has ended.
Result<std::vector<Path>> BuildPackage(const Path& root, const std::string& package,
                                       const Path& output, const Path& scratch,
                                       std::stop_token stop);

}  // namespace caip::client
