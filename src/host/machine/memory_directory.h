#pragma once
// A temporary directory in memory, for files that are written and deleted again.

#include <cstdint>
#include <memory>

#include "base/files.h"

namespace caip::host {

/// A directory on a file system in memory. It is deleted when the process ends, in whatever way.
/// Runs that create and delete many files are several times as fast there. The reason: ext4 does
/// not reuse an inode for a minute or more (recently_deleted() in Linux' fs/ext4/ialloc.c), and
/// looks through all of those inodes for each new file.
class MemoryDirectory {
 public:
  /// nullptr when the host has no such file system (/dev/shm, programs allowed), when it has no
  /// space for a multiple of `need` bytes without taking much of the free memory, or when `disk`,
  /// the alternative, is in memory itself or so full that using memory would hide that.
  static std::unique_ptr<MemoryDirectory> Open(const Path& disk, uint64_t need);
  ~MemoryDirectory();
  MemoryDirectory(const MemoryDirectory&) = delete;
  MemoryDirectory& operator=(const MemoryDirectory&) = delete;

  const Path& path() const { return path_; }
  /// True when more was written than the memory can spare: the writer should use a disk. Any
  /// thread.
  bool IsOverfull() const;

 private:
  MemoryDirectory(Path path, uint64_t spare) : path_(std::move(path)), spare_(spare) {}
  Status SetGuard();

  Path path_;
  uint64_t spare_;  // bytes that this and other processes may still write
  uint64_t free_before_ = 0;
  Fd alive_;        // its end of file tells the guard that this process has ended
  int guard_ = -1;  // a process that removes the directory after this one
};

/// The bytes that the files below a directory take.
uint64_t BytesBelow(const Path& directory);

}  // namespace caip::host
