#include "fakes/gcs/store/kept_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "fakes/gcs/store/bucket_tree.h"

namespace caip::gcs {
namespace {

using std::chrono::nanoseconds;

// Two changes within one tick of the kernel's clock, 10 ms at most, may have the same time. File
// systems without fractions of a second have ticks of up to two seconds.
constexpr nanoseconds kFileTick = std::chrono::milliseconds(100);
constexpr nanoseconds kCoarseFileTick = std::chrono::seconds(3);

nanoseconds SinceEpoch(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

bool IsSettled(const struct stat& status) {
  using FileClock = std::filesystem::file_time_type::clock;
  const nanoseconds now = FileClock::to_sys(FileClock::now()).time_since_epoch();
  const bool is_coarse = status.st_ctim.tv_nsec == 0 && status.st_mtim.tv_nsec == 0;
  const nanoseconds changed = std::max(SinceEpoch(status.st_ctim), SinceEpoch(status.st_mtim));
  return now - changed > (is_coarse ? kCoarseFileTick : kFileTick);
}

// A generation has at most one entry for so many of its bytes: empty objects would never fill it.
constexpr size_t kEntryBytes = 256;
constexpr size_t kEntriesMin = 16;

std::optional<std::string> ReadAll(int fd, size_t size) {
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    const ssize_t count = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(done));
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }
  return bytes;
}

bool IsSameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

std::shared_ptr<const std::string> KeptBytes::Find(int64_t generation, const struct stat& status) {
  const std::lock_guard lock(mutex_);
  auto at = young_.find(generation);
  if (at == young_.end()) {
    const auto older = old_.find(generation);
    if (older == old_.end()) return nullptr;
    Entry entry = std::move(older->second);
    old_bytes_ -= entry.bytes->size();
    old_.erase(older);
    Add(generation, std::move(entry));
    at = young_.find(generation);
  }
  const Entry& entry = at->second;
  return IsSameTime(entry.changed, status.st_ctim) ? entry.bytes : nullptr;
}

// The file's times are read before its bytes: a change meanwhile makes them differ at the next
// Find.
std::shared_ptr<const std::string> KeptBytes::Read(const ObjectRecord& record, int fd) {
  struct stat status {};
  if (record.file.size > kFileBytesMax || ::fstat(fd, &status) != 0) return nullptr;
  if (IdentityOf(status) != record.file || !IsSettled(status)) return nullptr;
  auto read = ReadAll(fd, record.file.size);
  if (!read) return nullptr;
  auto bytes = std::make_shared<const std::string>(std::move(*read));
  const std::lock_guard lock(mutex_);
  Add(record.info.generation, {status.st_ctim, bytes});
  return bytes;
}

// The caller holds the mutex.
void KeptBytes::Add(int64_t generation, Entry entry) {
  const size_t size = entry.bytes->size();
  if (const auto at = young_.find(generation); at != young_.end()) {
    young_bytes_ -= at->second.bytes->size();
    young_.erase(at);
  }
  const size_t entries_max = std::max(bytes_max_ / kEntryBytes, kEntriesMin);
  if (young_bytes_ + size > bytes_max_ || young_.size() >= entries_max) {
    old_ = std::exchange(young_, {});
    old_bytes_ = std::exchange(young_bytes_, 0);
  }
  young_bytes_ += size;
  young_.emplace(generation, std::move(entry));
}

void KeptBytes::Forget(int64_t generation) {
  const std::lock_guard lock(mutex_);
  const auto drop = [&](Entries& entries, size_t& bytes) {
    const auto at = entries.find(generation);
    if (at == entries.end()) return;
    bytes -= at->second.bytes->size();
    entries.erase(at);
  };
  drop(young_, young_bytes_);
  drop(old_, old_bytes_);
}

size_t KeptBytes::count() const {
  const std::lock_guard lock(mutex_);
  return young_.size() + old_.size();
}

size_t KeptBytes::size() const {
  const std::lock_guard lock(mutex_);
  return young_bytes_ + old_bytes_;
}

}  // namespace caip::gcs
