#pragma once
// An entry of a tar archive, as the archive describes it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace caip::images {

enum class EntryKind { kFile, kDirectory, kSymbolicLink, kHardLink, kPipe, kDevice, kOther };

/// One entry of an archive.
struct TarEntry {
  std::string path;
  EntryKind kind = EntryKind::kOther;
  std::string target;  // of a link
  unsigned mode = 0;   // permissions, with the set-user-ID, set-group-ID and sticky bits
  int64_t uid = 0;
  int64_t gid = 0;
  uint64_t size = 0;  // of a file, with its holes
  int64_t mtime = 0;
  long mtime_nanoseconds = 0;
  std::vector<std::pair<std::string, std::string>> attributes = {};  // extended ones
};

/// The records of a pax header: names and values.
using TarRecords = std::vector<std::pair<std::string, std::string>>;

}  // namespace caip::images
