#pragma once
// The commands that replace the images of the service's built-in algorithms.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/machine/host_report.h"
#include "host/process/child_process.h"

namespace caip::app {

/// The Python package of the algorithms and the interpreter that runs it.
struct BuiltInImages {
  Path state;          // the package is written below it
  std::string python;  // for all jobs; "": by `runtimes`
  /// By runtime or Python version. The algorithms have 1.15 and 3.7. Neither: the interpreter of
  /// the active virtual environment, else python3.
  std::map<std::string, std::string> runtimes;
  host::Variables environment;  // of this process

  /// The command for an image of a known algorithm, which the arguments of a job follow; nullopt:
  /// the image is none.
  Result<std::optional<std::vector<std::string>>> CommandFor(const std::string& image_uri) const;
  /// Which algorithms the interpreter has the libraries for. Runs it, without importing them.
  std::vector<host::HostFact> Report() const;
  /// Runs the program of an algorithm, or `predict`.
  Result<std::vector<std::string>> Command(const std::string& name) const;
};

}  // namespace caip::app
