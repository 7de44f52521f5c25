#pragma once
// Files whose bytes replicas change through memory, without a call that could be watched.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::scenario {

/// Any thread.
class MappedFiles {
 public:
  /// The replica has mapped the file, which other calls may change as well.
  void Add(const engine::ReplicaKey& key, const std::string& name, const Path& path);
  /// A call has changed the file. Does nothing for files that are not mapped.
  void NoteCall(const engine::ReplicaKey& key, const std::string& name);
  /// The names and sizes of the replica's files whose bytes differ from those at the last call.
  std::vector<std::pair<std::string, uint64_t>> TakeChanged(const engine::ReplicaKey& key);

 private:
  struct Mapped {
    Path path;
    uint64_t size = 0;
    uint64_t checksum = 0;  // of its bytes
  };
  /// nullopt if the file cannot be read, or is not a regular file any more.
  static std::optional<Mapped> Look(const Path& path);

  std::mutex mutex_;
  std::map<engine::ReplicaKey, std::map<std::string, Mapped>> files_;
};

}  // namespace caip::scenario
