#pragma once
// The directories and files of the buckets: where an object's bytes are, and how they get there. It
// stores no metadata. Nothing is ever opened through a symbolic link or outside the root.

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {

/// An object's file, open for reading.
struct OpenFile {
  Fd fd;
  std::string path;  // below the bucket's directory
  FileIdentity identity;
};

FileIdentity IdentityOf(const struct stat& status);

/// One bucket's directory. Reading needs no lock; changes are made by one thread at a time.
class BucketTree {
 public:
  BucketTree(Fd directory, std::string bucket)
      : directory_(std::move(directory)), bucket_(std::move(bucket)) {}

  int fd() const { return directory_.get(); }
  const std::string& bucket() const { return bucket_; }
  /// kNotFound if the object has no file.
  Result<OpenFile> Open(const std::string& name) const;
  /// Moves a finished file in. Makes its directories; files at their paths move aside
  /// (names.h). Adds to `touched` the directories to be synced.
  Result<FileIdentity> Place(int from_directory, const std::string& from, const std::string& name,
                             std::vector<std::string>* touched);
  /// The same, but a file that has the path gets the name `from`, if the filesystem can do that:
  /// when a file replaces another one, ext4 starts to write its bytes, and frees the blocks of the
  /// other one, while it holds locks of both directories. True if there is such a file now. If a
  /// file of another object has moved aside, that is on disk before this file has its name.
  Result<bool> PlaceBySwap(int from_directory, const std::string& from, const std::string& name,
                           std::vector<std::string>* touched);
  /// Removes the file and the directories that it leaves empty. Files that had moved aside for them
  /// move back.
  Status Remove(const std::string& name, std::vector<std::string>* touched);
  /// Removes all directories of the bucket, or none if they hold anything else.
  Status RemoveEmptyDirectories() const;
  Status Sync(const std::vector<std::string>& touched) const;

 private:
  struct Placed {
    Fd parent;
    std::string leaf;
    bool has_swapped = false;
  };
  Result<Placed> Enter(int from_directory, const std::string& from, const std::string& name,
                       bool by_swap, std::vector<std::string>* touched);
  Result<Fd> OpenParent(const std::string& path, std::vector<std::string>* touched);
  Result<Fd> EnterDirectory(int parent, const std::string& piece, const std::string& path,
                            std::vector<std::string>* touched);
  Status MoveAside(const std::string& path, std::vector<std::string>* touched);
  void MoveBack(const std::string& path);
  void Prune(std::string path, std::vector<std::string>* touched);

  Fd directory_;
  std::string bucket_;
  bool has_moved_others_ = false;  // files of other objects have moved aside
};

/// Identifies many files of a bucket without opening them. Fast if the paths are sorted.
class FileFinder {
 public:
  explicit FileFinder(int bucket_directory) : bucket_directory_(bucket_directory) {}
  /// nullopt if there is no plain file at this path.
  Result<std::optional<FileIdentity>> Find(const std::string& path);

 private:
  int bucket_directory_;
  std::string parent_;
  Fd parent_directory_;
};

/// Opens `path` below `directory`. Follows no links and never leaves the directory. On failure, the
/// descriptor is invalid and errno is set.
Fd OpenBeneath(int directory, const std::string& path, int flags);

/// The names in the open directory, without "." and "..". Empty if it cannot be read.
std::vector<std::string> NamesIn(int directory);

/// True for the errors of OpenBeneath that say that nothing is there. The others (no free
/// descriptor) say nothing about it.
bool MeansAbsent(int error_number);

/// Opens the plain file for reading. If invalid, errno is set, to 0 if it is not a plain file.
OpenFile OpenPlainFile(int directory, const std::string& path);

}  // namespace caip::gcs
