#include "emulator/scenario/watch/mapped_files.h"

#include "base/hash.h"

namespace caip::scenario {

MappedFiles::Mapped MappedFiles::Look(const Path& path) {
  const auto bytes = ReadFileUpTo(path, kMappedBytesMax);
  if (!bytes.ok()) return {path, "", 0};
  return {path, Sha256(*bytes), bytes->size()};
}

void MappedFiles::Add(const engine::ReplicaKey& key, const std::string& name, const Path& path) {
  Mapped now = Look(path);
  const std::lock_guard lock(mutex_);
  files_[key][name] = std::move(now);
}

void MappedFiles::NoteCall(const engine::ReplicaKey& key, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto mine = files_.find(key);
  if (mine == files_.end()) return;
  const auto found = mine->second.find(name);
  if (found != mine->second.end()) found->second = Look(found->second.path);
}

std::vector<std::pair<std::string, uint64_t>> MappedFiles::TakeChanged(
    const engine::ReplicaKey& key) {
  std::vector<std::pair<std::string, uint64_t>> changed;
  const std::lock_guard lock(mutex_);
  const auto mine = files_.find(key);
  if (mine == files_.end()) return changed;
  for (auto& [name, known] : mine->second) {
    Mapped now = Look(known.path);
    if (now.digest.empty() || now.digest == known.digest) continue;
    changed.emplace_back(name, now.size);
    known = std::move(now);
  }
  return changed;
}

}  // namespace caip::scenario
