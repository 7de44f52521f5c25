#pragma once
// The bytes of small objects that were read lately, so that a read opens no file.

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {

/// Keeps the bytes of files by the generation of the object, which never has other bytes. It holds
/// two generations of its own: when the young one is full, it becomes the old one; bytes that are
/// found in the old one move to the young one. Any thread.
class KeptBytes {
 public:
  static constexpr size_t kFileBytesMax = 64 << 10;
  /// `bytes_max`: of each generation.
  explicit KeptBytes(size_t bytes_max = 16 << 20) : bytes_max_(bytes_max) {}

  /// `status`: of the file now. nullptr: its bytes are not kept, or it was changed since by hand.
  std::shared_ptr<const std::string> Find(int64_t generation, const struct stat& status);
  /// Reads and keeps the object's open file. nullptr if it is not small, is no longer the record's,
  /// or was changed so lately that a further change could leave its times as they are.
  std::shared_ptr<const std::string> Read(const ObjectRecord& record, int fd);
  /// For an object that is deleted or replaced.
  void Forget(int64_t generation);
  size_t size() const;   // in bytes
  size_t count() const;  // of entries

 private:
  struct Entry {
    timespec changed{};  // the file's status change time, which no program can set
    std::shared_ptr<const std::string> bytes;
  };
  using Entries = std::unordered_map<int64_t, Entry>;
  void Add(int64_t generation, Entry entry);

  const size_t bytes_max_;
  mutable std::mutex mutex_;
  Entries young_;
  Entries old_;
  size_t young_bytes_ = 0;
  size_t old_bytes_ = 0;
};

}  // namespace caip::gcs
