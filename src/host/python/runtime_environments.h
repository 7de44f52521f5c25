#pragma once
// Python environments with the frameworks of a runtime version: <state>/runtimes/<version>/.
//
//   pyvenv.cfg, bin/, lib/  a virtual environment (environment_cache.h)
//   .runtime.json           written last, describes the contents; without it the environment is
//                           incomplete and is not used
//
// They are made in their final directory, because scripts and metadata name it. Jobs of that
// version use them from then on.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// A framework of a runtime version.
struct RuntimePackage {
  std::string name;       // as pip knows it: "scikit-learn"
  std::string module;     // as Python imports it: "sklearn"
  std::string wanted;     // the service's version
  std::string installed;  // the version here; "": not known yet
};

struct RuntimeEnvironment {
  Path root;
  std::string version;         // "2.11"
  std::string wanted_python;   // the service's: "3.7"
  std::string python_version;  // the version here: "3.11.2"
  std::vector<RuntimePackage> packages;

  Path python() const { return root / "bin/python3"; }
  /// What differs from the service: "Python 3.11.2 (3.7)"; empty: nothing.
  std::vector<std::string> Differences() const;
};

/// `runtimes` is the directory that holds all of them. nullopt: none, or an incomplete one.
std::optional<RuntimeEnvironment> FindRuntime(const Path& runtimes, const std::string& version);
/// The complete ones, newest version first.
std::vector<RuntimeEnvironment> ListRuntimes(const Path& runtimes);
/// Marks the environment as complete.
Status KeepRuntime(const RuntimeEnvironment& runtime);
/// Also removes an incomplete one. False if there is none. kFailedPrecondition: another process
/// installs or removes one.
Result<bool> RemoveRuntime(const Path& runtimes, const std::string& version);

/// The right to change `runtimes`, until the descriptor is closed. Makes the directory.
/// kFailedPrecondition: another process has it.
Result<Fd> LockRuntimes(const Path& runtimes);

/// -1, 0 or 1: the order of two versions of numbers and dots. Missing numbers are 0.
int CompareVersions(std::string_view left, std::string_view right);

}  // namespace caip::host
