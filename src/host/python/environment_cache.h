#pragma once
// Keeps Python environments by their contents: <state>/environments/<key>/.
//
//   pyvenv.cfg, bin/, lib/  a virtual environment that also sees the interpreter's own packages
//   pip.conf                sends the packages that a trainer installs to its own $HOME/.local
//   .packages/<n>/          the files that were installed, in order
//   .ready                  written last, describes the contents; without it the environment is
//                           incomplete
//
// Environments are built in their final directory, because scripts and metadata name it.

#include <map>
#include <mutex>
#include <optional>
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

/// The contents of an environment, as its .ready has them.
struct EnvironmentContents {
  Path interpreter = {};
  std::string python = {};                     // version
  std::vector<std::string> package_uris = {};  // in the order of their installation
  std::vector<std::string> digests = {};       // of the packages
  std::string family = {};  // the key without the digests: equal for a changed package
};

/// The packages that were installed into the environment in `directory`; empty if it is not ready.
std::vector<std::string> PackageUrisOf(const Path& directory);

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
  /// Marks the environment as ready.
  Status Finish(const std::string& key, const EnvironmentContents& contents) const;
  /// The ready environments of the family, the one used last first. They may be deleted at any
  /// time.
  struct Member {
    std::string key;
    EnvironmentContents contents;
  };
  std::vector<Member> MembersOf(const std::string& family) const;
  /// Where the environment keeps the file of its package number `index`.
  Path PackageOf(const std::string& key, size_t index, const std::string& file_name) const {
    return DirectoryOf(key) / kPackages / std::to_string(index) / file_name;
  }
  /// True for the entries of an environment's directory that the cache makes and pip does not.
  static bool Owns(const std::string& name);
  /// Deletes the environment that Begin created.
  void Drop(const std::string& key) const;
  /// Ends the use of an environment by the run.
  void Unuse(const engine::RunKey& run);
  /// Removes surplus and incomplete environments, except those of `building`, from the cache and
  /// returns the directories to delete. Fast.
  std::vector<Path> TakeUnneeded(const std::set<std::string>& building);

 private:
  static constexpr const char* kPackages = ".packages";

  const Path root_;
  const size_t keep_;
  std::mutex mutex_;
  std::map<engine::RunKey, std::string> used_;  // guarded by mutex_
};

}  // namespace caip::host
