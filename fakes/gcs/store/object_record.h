#pragma once
// An object's metadata and which bytes they speak of.

#include <cstdint>

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Which bytes a record speaks of. A file that differs was changed by hand.
struct FileIdentity {
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  uint64_t size = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// An object as it was when we last wrote or looked at its file.
struct ObjectRecord {
  ObjectInfo info;
  FileIdentity file;
  bool hashed = false;  // md5 and crc32c are known
};

}  // namespace caip::gcs
