#pragma once
// A temporary directory in memory, for files that are written and deleted again.

#include <cstdint>
#include <memory>

#include "base/files.h"

namespace caip::host {

/// A directory on a file system in memory. It is deleted when the process ends, even if the process
/// is killed. Runs that create and delete many files are several times as fast there. The reason:
/// ext4 does not reuse an inode for a minute or more (recently_deleted() in Linux'
/// fs/ext4/ialloc.c), and looks through all of those inodes for each new file.
class MemoryDirectory {
 public:
  /// Returns nullptr if the host has no such file system (/dev/shm, programs allowed), or if a
  /// multiple of `need` bytes would take much of the free memory. Also if `disk`, the alternative,
  /// is in memory itself, or so full that the use of memory would hide that.
  static std::unique_ptr<MemoryDirectory> Open(const Path& disk, uint64_t need);
  ~MemoryDirectory();
  MemoryDirectory(const MemoryDirectory&) = delete;
  MemoryDirectory& operator=(const MemoryDirectory&) = delete;

  const Path& path() const { return path_; }
  /// Whether more bytes were written, or more files made, by any process than the memory can spare.
  /// Then the writer should use a disk. Any thread.
  bool IsOverfull() const;

 private:
  MemoryDirectory(Path path, uint64_t spare) : path_(std::move(path)), spare_(spare) {}
  Status SetGuard();

  Path path_;
  uint64_t spare_;  // bytes that this and other processes may still write
  uint64_t free_before_ = 0;
  uint64_t files_before_ = 0;
  Fd alive_;        // at its end of file, the guard knows that this process has ended
  int guard_ = -1;  // a process that removes the directory after this one
};

/// The sum of the sizes of the files below a directory.
uint64_t BytesBelow(const Path& directory);

}  // namespace caip::host
