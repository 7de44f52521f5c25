#pragma once
// setup.py sdist, run as gcloud runs it.

#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// The pythons that may build packages, in the order in which they are tried: $CLOUDSDK_PYTHON,
/// python3 and python on PATH, /usr/bin/python3.
std::vector<std::string> BuildPythons();

/// Builds `package` (a directory name) below `root` into `output`; paths of the results, sorted. A
/// root without setup.py is built as if it had one, and not written to; one with a setup.py that
/// cannot be written is copied. kCancelled, and the tool is gone, once `stop` asks for it.
Result<std::vector<Path>> BuildPackage(const Path& root, const std::string& package,
                                       const Path& output, const Path& scratch,
                                       std::stop_token stop);

}  // namespace caip::client
