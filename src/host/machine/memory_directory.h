#pragma once
// A temporary directory in memory, for files that are written and deleted again.

#include <cstdint>
#include <memory>

#include "base/files.h"

namespace caip::host {

/// A directory on a file system in memory. It is gone when the process is, however that ends. Runs
/// that make and delete many files are several times as fast there: ext4 does not give an inode
/// away again for a minute or more (recently_deleted() in Linux' fs/ext4/ialloc.c), and looks
/// through all of those for each new file.
class MemoryDirectory {
 public:
  /// nullptr when the host has no such file system (/dev/shm, programs allowed), when it has no
  /// room for a multiple of `need` bytes without taking much of the free memory, or when `disk`,
  /// the alternative, is in memory itself or so full that using memory would hide that.
  static std::unique_ptr<MemoryDirectory> Open(const Path& disk, uint64_t need);
  ~MemoryDirectory();
  MemoryDirectory(const MemoryDirectory&) = delete;
  MemoryDirectory& operator=(const MemoryDirectory&) = delete;

  const Path& path() const { return path_; }
  /// More was written than can be spared: the writer should use a disk. Any thread.
  bool IsOverfull() const;

 private:
  MemoryDirectory(Path path, uint64_t spare) : path_(std::move(path)), spare_(spare) {}
  Status SetGuard();

  Path path_;
  uint64_t spare_;  // bytes that may be written, ours and others' from now on
  uint64_t free_before_ = 0;
  Fd alive_;        // closed when this process ends, which the guard notices
  int guard_ = -1;  // a process that removes the directory after this one
};

/// What the files below a directory take.
uint64_t BytesBelow(const Path& directory);

}  // namespace caip::host
