// The commit of small objects, and what the store completes when it opens after a commit was
// interrupted, or after a power failure (file_sync.h).

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <vector>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/directory_writer.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

// The names of a directory's files, by inode.
std::map<uint64_t, std::string> FilesByInode(const Path& directory) {
  std::map<uint64_t, std::string> files;
  for (std::string& file : FilesIn(directory)) {
    struct stat status {};
    if (::lstat((directory / file).c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      files[status.st_ino] = std::move(file);
    }
  }
  return files;
}

constexpr size_t kUnsyncedMax = 32;  // that short commands leave to each other
constexpr auto kPlacingPatience = std::chrono::milliseconds(1500);
constexpr auto kPlacingPause = std::chrono::milliseconds(20);

bool Contains(int fd, std::string_view bytes) {
  std::string found(bytes.size() + 1, '\0');
  const ssize_t count = ::pread(fd, found.data(), found.size(), 0);  // of at most 64 KiB
  return count >= 0 && std::string_view(found).substr(0, static_cast<size_t>(count)) == bytes;
}

// True if something on the path of the object is neither a file nor a directory.
bool IsOccupied(const Status& placed) {
  return !placed.ok() && placed.error().code == Code::kInvalidArgument;
}

}  // namespace

// Commits the object with its bytes first, and gives its file the object's name afterwards.
// Whatever ends the process or the host in between, the next start completes it
// (RestoreSmallObjects). Does not sync the file or its directory (file_sync.h). Clears
// `temporary` if no file has that name any more.
Result<ObjectInfo> DirectoryStore::CommitSmall(std::string& temporary, const FileIdentity& file,
                                               ObjectInfo info, const Preconditions& preconditions,
                                               std::string bytes) {
  ASSIGN_OR_RETURN(BucketTree tree, OpenBucket(info.bucket));
  const std::string bucket = info.bucket;
  const std::string name = info.name;
  RecordPtr before;
  RecordPtr record;
  uint64_t sequence = 0;
  bool keeps_versions = false;
  {
    const auto lock = LockForChange(bucket, {name});
    ASSIGN_OR_RETURN(const BucketRules rules, RulesFor(bucket));
    keeps_versions = KeepsVersions(rules);
    ASSIGN_OR_RETURN(before, PrepareCommit(tree, info, rules, preconditions));
    record = std::make_shared<const ObjectRecord>(NewRecord(std::move(info), file, rules));
    sequence = side_->StageSmallObject(record, std::move(bytes));
    LockOf(bucket).placing[{bucket, name}] = before;
  }
  Step();
  Status status = Ok{};
  const auto complete = [&](bool is_committed) {
    BucketLock& its = LockOf(bucket);
    std::unique_lock lock(its.mutex);
    if (is_committed) status = PlaceOrWithdraw(tree, temporary, record, before, lock);
    const bool is_made = is_committed && status.ok();
    if (!is_made && before && keeps_versions) TakeVersionBack(tree, *before);
    its.placing.erase({bucket, name});  // before a lookup with the lock sees the new file
    lock.unlock();
    its.settled.notify_all();
  };
  const Status flushed = side_->FlushOr({bucket, name, before}, [&] {
    Step();
    complete(true);
  });
  if (!flushed.ok()) {
    Step();
    complete(false);
    (void)side_->Flush().ok();  // a sync that fails may leave the commit on the disk
    status = flushed;
  }
  status.ok() ? file_sync_->AddPlaced(sequence, *record) : file_sync_->Skip(sequence);
  Step();
  if (!status.ok()) return status.error();
  return record->info;
}

// Stages what there was before a commit that failed. The caller holds the bucket's lock.
void DirectoryStore::StageBefore(const ObjectRecord& failed, const RecordPtr& before) {
  before ? side_->StageObject(*before) : side_->StageRemoval(failed.info.bucket, failed.info.name);
}

// If the file cannot get its name, the object is withdrawn, and the answer is an error. If the disk
// refuses that, too, both are tried again: otherwise, the object could appear at the next start.
// `lock` is held, except meanwhile.
Status DirectoryStore::PlaceOrWithdraw(BucketTree& tree, std::string& temporary,
                                       const RecordPtr& record, const RecordPtr& before,
                                       std::unique_lock<std::mutex>& lock) {
  const MonotonicTime deadline = MonotonicNow() + kPlacingPatience;
  const ObjectInfo& info = record->info;
  std::vector<std::string> touched;
  while (true) {
    const Status placed = PlaceSmall(tree, temporary, info.name, &touched);
    if (placed.ok()) return placed;
    StageBefore(*record, before);
    lock.unlock();
    const bool is_withdrawn = side_->FlushOr({info.bucket, info.name, record}).ok();
    lock.lock();
    if (is_withdrawn) return placed;
    if (MonotonicNow() > deadline) {
      StageBefore(*record, before);
      return placed;
    }
    LockOf(info.bucket).settled.wait_for(lock, kPlacingPause);
  }
}

Status DirectoryStore::PlaceSmall(BucketTree& tree, std::string& temporary, const std::string& name,
                                  std::vector<std::string>* touched) {
  const int directory = directories_.temporary.get();
  ASSIGN_OR_RETURN(const bool has_swapped, tree.PlaceBySwap(directory, temporary, name, touched));
  if (!has_swapped) temporary.clear();
  return Ok{};
}

// The side store keeps the bytes of small objects until their files are on disk (file_sync.h).
// After the end of the process alone, all files are as they were, and at most the last step of a
// commit is missing. After a power failure, the files themselves may be lost or incomplete.
Status DirectoryStore::RestoreSmallObjects() {
  if (side_->last_sequence() == 0) return Ok{};
  if (side_->is_same_boot()) {
    ASSIGN_OR_RETURN(const auto files, side_->SmallObjectFiles());
    const auto leftovers = FilesByInode(TemporaryDirectoryPath());
    for (const SideStore::SmallObject& small : files) {
      const auto at = leftovers.find(small.record.file.inode);
      if (at != leftovers.end()) RETURN_IF_ERROR(PlaceLeftover(at->second, small.record));
      file_sync_->AddPlaced(small.sequence, small.record);
    }
    if (files.size() >= kUnsyncedMax) file_sync_->SyncSoon();
    return Ok{};
  }
  ASSIGN_OR_RETURN(std::vector<SideStore::SmallObject> objects, side_->SmallObjects());
  for (SideStore::SmallObject& small : objects) {
    RETURN_IF_ERROR(RestoreSmallObject(std::move(small)));
  }
  side_->StageSynced(side_->last_sequence());
  return side_->Flush();
}

// Gives the file its object's name: the process ended before that. Does nothing if a person has put
// something else at that place.
Status DirectoryStore::PlaceLeftover(std::string temporary, const ObjectRecord& record) {
  auto tree = OpenBucket(record.info.bucket);
  if (!tree.ok()) return tree.error().code == Code::kNotFound ? Status(Ok{}) : tree.error();
  struct stat status {};
  const int directory = directories_.temporary.get();
  if (::fstatat(directory, temporary.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errors::CannotLookAtObject(record.info.name, errno);
  }
  if (IdentityOf(status) != record.file) return Ok{};
  std::vector<std::string> touched;
  const Status placed = PlaceSmall(*tree, temporary, record.info.name, &touched);
  return IsOccupied(placed) ? Status(Ok{}) : placed;
}

// Writes the file again if the disk does not have it. A file that is newer than the object was
// changed by hand before the power failure, and stays. So does what a person has put at its place.
Status DirectoryStore::RestoreSmallObject(SideStore::SmallObject small) {
  const ObjectInfo& info = small.record.info;
  auto tree = OpenBucket(info.bucket);
  if (!tree.ok()) return tree.error().code == Code::kNotFound ? Status(Ok{}) : tree.error();
  auto file = tree->Open(info.name);
  if (!file.ok() && file.error().code != Code::kNotFound) return file.error();
  if (file.ok() && Contains(file->fd.get(), small.bytes)) {
    if (file->identity == small.record.file) return Ok{};
    small.record.file = file->identity;
    side_->StageObject(small.record);
    return Ok{};
  }
  if (file.ok() && file->identity.modified_ns > small.record.file.modified_ns) return Ok{};
  const std::string temporary = TemporaryFiles::NewName();
  RETURN_IF_ERROR(WriteFileDurably(TemporaryDirectoryPath() / temporary, small.bytes, 0666));
  std::vector<std::string> touched;
  const auto placed = tree->Place(directories_.temporary.get(), temporary, info.name, &touched);
  if (!placed.ok()) return IsOccupied(placed.error()) ? Status(Ok{}) : placed.error();
  small.record.file = *placed;
  side_->StageObject(small.record);
  return tree->Sync(touched);
}

// Files that became objects before their records were on disk. Called after small objects are
// restored: a flush says that they are.
Status DirectoryStore::RestoreCommits() {
  ASSIGN_OR_RETURN(std::vector<ObjectRecord> commits, side_->UnfinishedCommits());
  if (commits.empty()) return Ok{};
  for (ObjectRecord& commit : commits) RestoreCommit(std::move(commit));
  (void)side_->Flush().ok();  // else the next start tries again
  return Ok{};
}

// A note of another file is that of a commit that did not get so far, or of an object that was
// replaced since. What cannot be read is left to the next start.
void DirectoryStore::RestoreCommit(ObjectRecord commit) {
  const std::string bucket = commit.info.bucket;
  const std::string name = commit.info.name;
  const auto tree = OpenBucket(bucket);
  if (!tree.ok() && tree.error().code != Code::kNotFound) return;
  const auto file = tree.ok() ? tree->Open(name) : tree.error();
  if (!file.ok() && file.error().code != Code::kNotFound) return;
  const auto known = side_->FindObject(bucket, name);
  if (!known.ok()) return;
  side_->StageCommitEnd(commit);
  if (!file.ok() || file->identity != commit.file) return;
  if (*known && (*known)->file == commit.file) return;
  commit.info.generation = side_->NextGeneration(clock_.Now());  // a later one may have ended
  side_->StageObject(commit);
}

}  // namespace caip::gcs
