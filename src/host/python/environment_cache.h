#pragma once
// Keeps Python environments by their contents: <state>/environments/<key>/.
//
//   pyvenv.cfg, bin/, lib/  a virtual environment that also sees the interpreter's own packages
//   pip.conf                sends the packages that a trainer installs to its own $HOME/.local
//   .ready                  written last, describes the contents; without it the environment is
//                           incomplete
//
// Environments are built in their final directory, because scripts and metadata name it.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/python/interpreters.h"

namespace caip::host {

/// A package, identified by its file name and any digest of its bytes.
struct PackageIdentity {
  std::string file_name;
  std::string digest;
};

/// The key of an environment: 32 hexadecimal digits of a digest of everything that determines its
/// contents.
std::string EnvironmentKey(const Interpreter& interpreter,
                           const std::vector<PackageIdentity>& packages,
                           const std::vector<std::string>& pip_facts);

/// Creates, finds and deletes environments. Any thread.
class EnvironmentCache {
 public:
  /// Keeps all environments in use and the `keep` that were used last.
  EnvironmentCache(Path root, size_t keep);

  Path DirectoryOf(const std::string& key) const { return root_ / key; }
  /// True if the environment is ready. From then on `run` uses it.
  bool Use(const std::string& key, const engine::RunKey& run);
  /// Creates an empty environment to install into. Deletes an incomplete one first.
  Status Begin(const std::string& key, const Interpreter& interpreter) const;
  /// Marks the environment as ready. `contents` is for people.
  Status Finish(const std::string& key, const Json& contents) const;
  /// Deletes the environment that Begin created.
  void Drop(const std::string& key) const;
  /// Ends the use of an environment by the run.
  void Unuse(const engine::RunKey& run);
  /// Removes surplus and incomplete environments, except those of `building`, from the cache and
  /// returns the directories to delete. Fast.
  std::vector<Path> TakeUnneeded(const std::set<std::string>& building);

 private:
  const Path root_;
  const size_t keep_;
  std::mutex mutex_;
  std::map<engine::RunKey, std::string> used_;  // guarded by mutex_
};

}  // namespace caip::host
