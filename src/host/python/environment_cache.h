#pragma once
// Python environments, kept by what is in them: <state>/environments/<key>/.
//
//   pyvenv.cfg, bin/, lib/  a virtual environment that sees the interpreter's own packages, too
//   pip.conf                what a trainer installs goes to its own $HOME/.local, never in here
//   .ready                  written last; says what is in it. Without it, it is a ruin
//
// Environments are built where they stay: scripts and metadata name their directory.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/python/interpreters.h"

namespace caip::host {

/// A package and its bytes, by any digest that tells bytes apart.
struct PackageIdentity {
  std::string file_name;
  std::string digest;
};

/// The key of an environment: 32 hexadecimal digits over all that decides what is in it.
std::string EnvironmentKey(const Interpreter& interpreter,
                           const std::vector<PackageIdentity>& packages,
                           const std::vector<std::string>& pip_facts);

/// Makes, finds and forgets environments. Any thread.
class EnvironmentCache {
 public:
  /// Keeps the `keep` environments used last, and all that are in use.
  EnvironmentCache(Path root, size_t keep);

  Path DirectoryOf(const std::string& key) const { return root_ / key; }
  /// True when the environment is there; it is then in use by `run`.
  bool Use(const std::string& key, const engine::RunKey& run);
  /// An empty environment to install into; of a ruin, nothing is kept.
  Status Begin(const std::string& key, const Interpreter& interpreter) const;
  /// From now on it is ready. `contents` is for people.
  Status Finish(const std::string& key, const Json& contents) const;
  /// Deletes what Begin has made.
  void Drop(const std::string& key) const;
  /// The run needs its environment no more.
  void Unuse(const engine::RunKey& run);
  /// Takes the environments that are too many and the ruins, but none of `building`, out of the
  /// cache, and says what to delete. Quick.
  std::vector<Path> TakeDoomed(const std::set<std::string>& building);

 private:
  const Path root_;
  const size_t keep_;
  std::mutex mutex_;
  std::map<engine::RunKey, std::string> used_;  // guarded by mutex_
};

}  // namespace caip::host
