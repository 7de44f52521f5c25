#include "host/watch/disk_limits.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "host/watch/disk_space.h"

namespace caip::host {
namespace {

constexpr uint64_t kPageBytes = 4096;
// Space that replicas leave to the host, at most a part of its file system.
constexpr uint64_t kReserveBytes = 1ull << 30;
constexpr uint64_t kReservePart = 20;
// A full disk is looked through again after so many refused writes: a file may have been cut.
constexpr int kRefusalsMax = 64;

uint64_t RoomOfHost(const Path& directory) {
  struct statvfs space = {};
  if (::statvfs(directory.c_str(), &space) != 0) return UINT64_MAX;
  const uint64_t all = static_cast<uint64_t>(space.f_blocks) * space.f_frsize;
  const uint64_t free = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
  const uint64_t reserve = std::min(kReserveBytes, all / kReservePart);
  return free > reserve ? free - reserve : 0;
}

}  // namespace

void DiskLimits::Begin(const engine::ReplicaKey& key, Disk disk) {
  auto usage = std::make_shared<Usage>();
  usage->disk = std::move(disk);
  const std::lock_guard lock(mutex_);
  usages_[key] = std::move(usage);
}

void DiskLimits::Started(const engine::ReplicaKey& key, pid_t init) {
  if (const auto usage = UsageOf(key)) usage->init = init;
}

bool DiskLimits::WasFull(const engine::ReplicaKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = usages_.find(key);
  return found != usages_.end() && found->second->was_full;
}

std::shared_ptr<DiskLimits::Usage> DiskLimits::UsageOf(const engine::ReplicaKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = usages_.find(key);
  return found == usages_.end() ? nullptr : found->second;
}

// The part of a write that fits.
uint64_t DiskLimits::RoomFor(Usage& usage, uint64_t bytes) {
  const uint64_t of_host = RoomOfHost(usage.disk.directory);
  const auto room = [&] {
    const uint64_t used = usage.measured + usage.written;
    const uint64_t of_disk = usage.disk.bytes > used ? usage.disk.bytes - used : 0;
    return std::min({bytes, of_disk, of_host});
  };
  if (usage.is_measured && room() == bytes) return bytes;
  const bool is_known_full = usage.is_measured && usage.refused > 0 && usage.refused < kRefusalsMax;
  if (is_known_full) return room();
  usage.measured = SpaceBelow(usage.disk.directory) + SpaceOfDeleted(usage.init, usage.disk.shown);
  usage.is_measured = true;
  usage.written = 0;
  usage.refused = 0;
  return room();
}

Verdict DiskLimits::Before(const engine::ReplicaKey& key, const FileOperation& operation) {
  const auto usage = UsageOf(key);
  if (!usage || operation.kind != FileOperation::Kind::kWrite) return {};
  const auto wanted = static_cast<uint64_t>(operation.count);
  const uint64_t room = RoomFor(*usage, wanted);
  if (room == wanted) {
    usage->written += wanted;
    return {};
  }
  if (const uint64_t pages = room / kPageBytes * kPageBytes; pages > 0) {  // O_DIRECT needs blocks
    usage->written += pages;
    return {Verdict::Kind::kPart, 0, static_cast<int64_t>(pages)};
  }
  ++usage->refused;
  const std::lock_guard lock(mutex_);
  usage->was_full = true;
  return {Verdict::Kind::kFail, ENOSPC, 0};
}

// Operations that may make space.
Verdict DiskLimits::After(const engine::ReplicaKey& key, const FileOperation& operation, int) {
  using Kind = FileOperation::Kind;
  const bool frees = operation.kind == Kind::kDelete || operation.kind == Kind::kRename ||
                     operation.kind == Kind::kOverwrite ||
                     (operation.kind == Kind::kWhole && !operation.has_name);
  if (const auto usage = frees ? UsageOf(key) : nullptr) usage->refused = 0;
  return {};
}

void DiskLimits::Gone(const engine::ReplicaKey& key) {
  const std::lock_guard lock(mutex_);
  usages_.erase(key);
}

}  // namespace caip::host
