#pragma once
// A place in memory for what is written and thrown away again.

#include <cstdint>
#include <memory>

#include "base/files.h"

namespace caip::host {

/// A directory on a file system in memory, gone with the process, however that ends. Runs that make
/// and delete many files are several times as fast there: ext4 does not give an inode away again
/// for a minute or more (recently_deleted() in Linux' fs/ext4/ialloc.c), and looks through all of
/// those for each new file.
class MemoryRoom {
 public:
  /// nullptr where there is no such place (/dev/shm, programs allowed), where it has no room for a
  /// multiple of `need` bytes without taking much of the free memory, or where `disk`, which would
  /// be used otherwise, is in memory itself or so full that more memory would hide it.
  static std::unique_ptr<MemoryRoom> Open(const Path& disk, uint64_t need);
  ~MemoryRoom();
  MemoryRoom(const MemoryRoom&) = delete;
  MemoryRoom& operator=(const MemoryRoom&) = delete;

  const Path& path() const { return path_; }
  /// More was written than can be spared: what writes it should go to a disk. Any thread.
  bool IsOverfull() const;

 private:
  MemoryRoom(Path path, uint64_t spare) : path_(std::move(path)), spare_(spare) {}
  Status SetGuard();

  Path path_;
  uint64_t spare_;  // bytes that may be written, ours and others' from now on
  uint64_t free_before_ = 0;
  Fd alive_;        // closed by our end, of which the guard learns so
  int guard_ = -1;  // a process that removes the directory behind us
};

/// What the files below a directory take.
uint64_t BytesBelow(const Path& directory);

}  // namespace caip::host
