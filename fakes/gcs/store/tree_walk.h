#pragma once
// Walks a bucket's directory in the order of object names (bytes of UTF-8), from any name on.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace caip::gcs {

/// An entry of a directory: an object, or a directory that may hold objects.
struct TreeEntry {
  std::string key;  // the object's name from this directory on; for a directory it ends in "/"
  std::string path;
  bool directory = false;
};
using TreeEntries = std::shared_ptr<const std::vector<TreeEntry>>;  // sorted by key

/// Remembers large directories between the pages of a listing. Any thread.
class DirectoryCache {
 public:
  /// Reads the directory `path` below the bucket's, whose names begin with `prefix`.
  TreeEntries Read(int bucket_directory, const std::string& path, const std::string& prefix);

 private:
  struct Known {
    std::string path;  // a directory may be moved without being changed
    int64_t modified_ns = 0;
    TreeEntries entries;
  };
  std::mutex mutex_;
  std::map<std::pair<uint64_t, uint64_t>, Known> known_;  // by device and inode
  size_t entries_ = 0;
};

/// Receives each object in order. It names where the walk continues, so whole directories are
/// skipped.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;
  /// Names before this one are skipped.
  virtual const std::string& seek() const = 0;
  /// False to skip all names that begin with `prefix`.
  virtual bool WantsBelow(const std::string& prefix) const = 0;
  /// False ends the walk.
  virtual bool Visit(const std::string& name, const std::string& path) = 0;
};

/// False when the visitor ended it.
bool WalkTree(int bucket_directory, DirectoryCache& cache, TreeVisitor& visitor);

}  // namespace caip::gcs
