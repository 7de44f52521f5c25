#pragma once
// Gives the files of a tree second names in another tree, while other processes may change the
// first one.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "fakes/gcs/store/moved_records.h"

namespace caip::app {

/// A file or a directory of a tree, with its inode.
using TreeEntry = std::pair<std::string, uint64_t>;

/// Walks one tree. A file that cannot have a second name is copied: the file system has no links
/// or is another one, or the host protects files of other users (proc(5), protected_hardlinks).
class TreeLinker {
 public:
  /// `check` is called again and again. Its error ends the walk.
  TreeLinker(Path from, Path to, std::function<Status()> check)
      : from_(std::move(from)), to_(std::move(to)), check_(std::move(check)) {}

  /// Makes the other tree.
  Status Link();
  Status List() { return Walk("", false); }
  /// What was found, sorted.
  std::vector<TreeEntry> TakeEntries();
  const gcs::CopiedInodes& copies() const { return copies_; }

 private:
  Status Walk(const std::string& folder, bool links);
  Status Repeat(const std::string& path, bool is_folder);
  Status Copy(const Path& from, const Path& to);
  Status CopyBytes(const Fd& from, const Fd& to, const Path& file) const;

  Path from_;
  Path to_;
  std::function<Status()> check_;
  std::vector<TreeEntry> entries_;
  gcs::CopiedInodes copies_;
};

}  // namespace caip::app
