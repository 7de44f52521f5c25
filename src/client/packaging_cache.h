#pragma once
// Built packages by the content of the source tree they were built from.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// What identifies a source tree. Two trees with the same `stat` have the same `content`.
struct TreeKey {
  std::string stat;  // over names, kinds, sizes, modes and times of change
  Path root;
  std::vector<std::string> files;  // what counts, relative to the root, sorted
  std::string content;             // over names, modes and bytes; filled by Find
};

/// `package` is the directory below `root` that is built. Without a setup.py of its own only the
/// package and the files beside it count, else the whole root. nullopt: too large to be worth it,
/// or not readable. `salt` is whatever else the result depends on (the interpreter).
std::optional<TreeKey> KeyOfTree(const Path& root, const std::string& package, bool own_setup,
                                 const std::string& salt);

/// <state>/sdists. Any number of processes at once; an entry is whole or not there.
class PackageCache {
 public:
  explicit PackageCache(Path directory) : directory_(std::move(directory)) {}
  /// The built files, by the tree's times or else by its content; nullopt when there are none. With
  /// `remember` a tree found by its content is found by its times from then on.
  std::optional<std::vector<Path>> Find(TreeKey& key, bool remember) const;
  /// Keeps copies of `built` for a key that was not found; the paths of the copies. Forgets the
  /// oldest entries.
  Result<std::vector<Path>> Keep(const TreeKey& key, const std::vector<Path>& built) const;

 private:
  Path directory_;
};

}  // namespace caip::client
