#include "fakes/gcs/store/file_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

constexpr uint64_t kSyncedBytes = 64 << 20;  // syncs when so many are kept
constexpr uint64_t kKeptBytesMax = 256 << 20;
constexpr uint64_t kFileBytesMin = 4096;  // a file takes at least a page
constexpr size_t kFilesBeforeTheEnd = 8;
// A command that has just started has other files to sync, for which its user waits.
constexpr std::chrono::milliseconds kAfterStart{20};

// Adds the directories above `path`, up to the bucket's.
void AddDirectoriesOf(Path path, std::set<std::string>* directories) {
  while (path.has_parent_path()) {
    path = path.parent_path();
    if (!directories->insert(path).second) return;  // then the ones above are there, too
  }
}

}  // namespace

uint64_t FileSync::SmallFile::bytes() const { return std::max(identity.size, kFileBytesMin); }

FileSync::FileSync(int root, SideStore& side, Duration delay, BucketLocker lock_bucket)
    : root_(root),
      side_(side),
      delay_(delay),
      lock_bucket_(std::move(lock_bucket)),
      all_done_(side.last_sequence()) {}

FileSync::~FileSync() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FileSync::AddPlaced(uint64_t sequence, const ObjectRecord& record) {
  const std::lock_guard lock(mutex_);
  files_.push_back({record.info.bucket, record.info.name, record.file, sequence});
  bytes_ += files_.back().bytes();
  MarkDone(sequence);
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  if (files_.size() == 1 || bytes_ >= kSyncedBytes) wake_.notify_one();
}

void FileSync::Skip(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  MarkDone(sequence);
}

void FileSync::SyncSoon() {
  const std::lock_guard lock(mutex_);
  soon_ = true;
  wake_.notify_one();
}

void FileSync::MarkDone(uint64_t sequence) {
  if (sequence > all_done_) done_.insert(sequence);
  while (!done_.empty() && *done_.begin() == all_done_ + 1) {
    done_.erase(done_.begin());
    ++all_done_;
  }
}

bool FileSync::IsBehind() const {
  const std::lock_guard lock(mutex_);
  return bytes_ >= kKeptBytesMax;
}

void FileSync::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_ || soon_) {
    wake_.wait(lock, [this] { return stopping_ || !files_.empty(); });
    wake_.wait_for(lock, delay_, [this] { return stopping_ || soon_ || bytes_ >= kSyncedBytes; });
    if (soon_) wake_.wait_for(lock, kAfterStart, [this] { return stopping_; });
    if (!stopping_ || soon_) SyncOnce(lock);
  }
}

// If a step fails, the bytes stay in the side store, and the next attempt follows after the delay.
void FileSync::SyncOnce(std::unique_lock<std::mutex>& lock) {
  std::vector<SmallFile> files = std::exchange(files_, {});
  std::sort(files.begin(), files.end(),
            [](const SmallFile& a, const SmallFile& b) { return a.sequence < b.sequence; });
  uint64_t sequence = all_done_;
  soon_ = false;
  lock.unlock();
  size_t synced = SyncFirst(files);
  if (synced < files.size()) sequence = std::min(sequence, files[synced].sequence - 1);
  if (synced > 0) {
    side_.StageSynced(sequence);
    if (!side_.Flush().ok()) synced = 0;
  }
  lock.lock();
  for (size_t i = 0; i < synced; ++i) bytes_ -= files[i].bytes();
  if (synced == files.size()) return;
  const auto rest = files.begin() + static_cast<std::ptrdiff_t>(synced);
  files_.insert(files_.end(), std::make_move_iterator(rest), std::make_move_iterator(files.end()));
  wake_.wait_for(lock, delay_, [this] { return stopping_; });
}

// Returns the number of files that are on disk, with their directories. At the end of the process,
// these are a few.
size_t FileSync::SyncFirst(const std::vector<SmallFile>& files) {
  std::set<std::string> directories;
  size_t synced = 0;
  for (; synced < files.size() && SyncFile(files[synced], &directories); ++synced) {
    const std::lock_guard lock(mutex_);
    if (stopping_ && synced >= kFilesBeforeTheEnd) break;
  }
  for (const std::string& path : directories) {
    if (!SyncDirectory(path)) return 0;
  }
  return synced;
}

// A directory that is missing was removed. The ones above it are synced as well: for a bucket, that
// is the root.
bool FileSync::SyncDirectory(const std::string& path) const {
  const Fd directory = OpenBeneath(root_, path, O_RDONLY | O_DIRECTORY);
  if (directory.valid()) return ::fsync(directory.get()) == 0;
  if (!MeansAbsent(errno)) return false;
  return path.find('/') != std::string::npos || ::fsync(root_) == 0;
}

// If the object has another file by now, or none, that must be durable, too, before its bytes are
// forgotten: after a power failure, it could have this file again, whose bytes are not on disk. So
// the directories of all paths that its file may have are synced in any case.
bool FileSync::SyncFile(const SmallFile& file, std::set<std::string>* directories) const {
  const auto open = OpenLocked(file);
  if (!open.ok() && open.error().code != Code::kNotFound) return false;
  for (const std::string& path : {PlainPath(file.name), BesidePath(file.name)}) {
    AddDirectoriesOf(file.bucket + "/" + path, directories);
  }
  return !open.ok() || open->identity != file.identity || ::fsync(open->fd.get()) == 0;
}

// A look without the lock may miss a file that moves from one of its paths to the other one.
Result<OpenFile> FileSync::OpenLocked(const SmallFile& file) const {
  const auto lock = lock_bucket_(file.bucket);
  Fd bucket = OpenBeneath(root_, file.bucket, O_RDONLY | O_DIRECTORY);
  if (bucket.valid()) return BucketTree(std::move(bucket), file.bucket).Open(file.name);
  return MeansAbsent(errno) ? errors::BucketNotFound(file.bucket)
                            : errors::CannotOpenBucket(file.bucket, errno);
}

}  // namespace caip::gcs
