#pragma once
// Tracebacks of a job's package name files of the environment in which it was installed. People
// want to open the files from which it was built.

#include <functional>
#include <string>

#include "base/files.h"

namespace caip::host {

/// The path for people of an installed file; "" if it is none of theirs. `environment` is the key
/// of an environment (environment_cache.h), `file` a path in its site-packages.
using SourceOf =
    std::function<std::string(const std::string& environment, const std::string& file)>;

/// The text with the paths of installed files replaced in the frames of Python tracebacks. Other
/// lines keep their paths: a trainer may print its own.
std::string WithSourcesInFrames(std::string text, const SourceOf& source_of);

/// A file of a package that is built from a directory in `parent`: `parent`/trainer/task.py; "" if
/// it does not exist.
std::string SourceIn(const Path& parent, const std::string& file);

}  // namespace caip::host
