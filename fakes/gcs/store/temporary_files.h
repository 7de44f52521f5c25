#pragma once
// The store's own directories, and where files are made that become objects. On ext4 without a
// journal, an inode is not used again for some minutes after its file was deleted. The search for a
// free inode passes all such inodes of the directory's block group. After some thousand deletions,
// by any program, that takes most of the time of a small upload.

#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::gcs {

inline constexpr const char* kTemporaryDirectory = ".caip-tmp";  // no bucket begins with a dot
inline constexpr const char* kVersionsDirectory = ".caip-versions";

/// Opens a directory below `root` that only the store uses, or makes it. What a trainer put in its
/// place, such as a link to another directory of the host, is removed: the buckets are among the
/// files of replicas.
Result<Fd> OpenOwnDirectory(int root, const Path& shown);
/// The same for a directory that was open: a person may have removed or moved it. Its descriptor
/// becomes that of the new one, for all who use it. True: it is another directory now.
Result<bool> RenewOwnDirectory(int root, const Path& shown, const Fd& own);

/// Makes files in the store's temporary directory, or in directories below it: when new files have
/// taken too much processor time, a new directory follows, which the filesystem places in another
/// block group. Any thread.
class TemporaryFiles {
 public:
  /// A new directory takes about as long as `patience`.
  static constexpr Duration kPatience = std::chrono::microseconds(400);

  /// `directory` must outlive it. `patience`: the processor time that slow files may take until a
  /// new directory is made. 0: each file gets a directory of its own.
  explicit TemporaryFiles(int directory, Duration patience = kPatience);
  ~TemporaryFiles();  // removes its directories
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

  /// A new name that no file has, without a directory.
  static std::string NewName();

  struct File {
    std::string name;  // below the temporary directory
    Fd fd;             // open for reading and writing. If invalid, errno is set
  };
  File Make();
  /// Makes no more directories: others may have made links in the temporary directory.
  void LeaveFolders();

 private:
  std::string Folder() const;
  void LeaveFolder(const std::string& folder);
  void CountTime(const std::string& folder, Duration taken);
  void MakeFolder();
  void RemoveOldFolders();

  int directory_;
  Duration patience_;
  mutable std::mutex mutex_;
  bool makes_folders_ = true;
  std::string folder_;            // "" or a name with a final slash
  std::vector<std::string> old_;  // may still have files
  Duration excess_{0};            // processor time of files in `folder_` beyond the usual one
};

/// The paths of all files in a store's temporary directory, relative to it.
std::vector<std::string> FilesIn(const Path& temporary);

}  // namespace caip::gcs
