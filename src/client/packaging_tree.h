#pragma once
// Identifies the source tree of a package, so that it is built once.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace caip::client {

/// Identifies a source tree. Two trees with the same `stat` have the same `content`.
struct TreeKey {
  std::string stat;  // digest of names, kinds, sizes, modes and times of change
  Path root;
  std::string package;             // the directory below the root that is built
  bool own_setup = false;          // the root has a setup.py
  std::vector<std::string> files;  // the files that a build reads, relative to the root, sorted
  std::string content;             // digest of names, modes and bytes; set by DigestContents
  // The same without the bytes of the files that a build only copies; "" if it may read any.
  std::string shape;
};

/// The key of a source tree. `package` is the directory below `root` that is built. If the root has
/// its own setup.py, the key covers the whole root, else the package and the files beside it.
/// nullopt: the tree is too large for the cache, or not readable. `salt` identifies everything else
/// that the result depends on (the interpreter).
std::optional<TreeKey> KeyOfTree(const Path& root, const std::string& package, bool own_setup,
                                 const std::string& salt);

/// Sets `content`, which a copy of the tree or `touch` does not change, and `shape`. False: a file
/// cannot be read.
bool DigestContents(TreeKey& key);

}  // namespace caip::client
