#include "emulator/scenario/watch/mapped_files.h"

#include <unistd.h>

#include "base/hash.h"
#include "emulator/scenario/contents/file_recorder.h"

namespace caip::scenario {
namespace {

constexpr size_t kMappedPieceBytes = 1u << 20;  // stays in the processor's cache

}  // namespace

std::optional<MappedFiles::Mapped> MappedFiles::Look(const Path& path) {
  const Fd file = OpenRegularFile(path);
  if (!file.valid()) return std::nullopt;
  Mapped found{.path = path};
  std::string piece(kMappedPieceBytes, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0) return std::nullopt;
    if (count == 0) return found;
    const std::string_view bytes(piece.data(), static_cast<size_t>(count));
    found.checksum = Crc64(bytes, found.checksum);
    found.size += bytes.size();
  }
}

void MappedFiles::Add(const engine::ReplicaKey& key, const std::string& name, const Path& path) {
  auto now = Look(path);
  const std::lock_guard lock(mutex_);
  if (now) files_[key][name] = *std::move(now);
}

void MappedFiles::NoteCall(const engine::ReplicaKey& key, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto mine = files_.find(key);
  if (mine == files_.end()) return;
  const auto found = mine->second.find(name);
  if (found == mine->second.end()) return;
  if (auto now = Look(found->second.path)) found->second = *std::move(now);
}

std::vector<std::pair<std::string, uint64_t>> MappedFiles::TakeChanged(
    const engine::ReplicaKey& key) {
  std::vector<std::pair<std::string, uint64_t>> changed;
  const std::lock_guard lock(mutex_);
  const auto mine = files_.find(key);
  if (mine == files_.end()) return changed;
  for (auto& [name, known] : mine->second) {
    auto now = Look(known.path);
    if (!now || (now->checksum == known.checksum && now->size == known.size)) continue;
    changed.emplace_back(name, now->size);
    known = *std::move(now);
  }
  return changed;
}

}  // namespace caip::scenario
