// Versions that are not live: how the directory store keeps, expires and deletes them.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {

// Noncurrent and soft-deleted versions, as .caip-versions/<bucket>/<generation>. The order of steps
// matters: a version's record is on disk before the live file is removed. So a crash leaves at most
// a version of an object that is still live, or a file without a record. The next start removes
// both (ClearVersions).

namespace {

constexpr int kExpiredAtOnce = 1000;

std::optional<int64_t> GenerationOf(const std::string& leaf) {
  int64_t generation = 0;
  const char* const last = leaf.data() + leaf.size();
  const auto [end, error] = std::from_chars(leaf.data(), last, generation);
  return error == std::errc() && end == last ? std::optional(generation) : std::nullopt;
}

}  // namespace

// Removes versions of live objects, files without records and expired versions. Called when the
// store opens.
void DirectoryStore::ClearVersions() {
  TakeLiveVersionsBack();
  for (const std::string& bucket : NamesIn(directories_.versions.get())) ClearVersionsOf(bucket);
  RemoveExpired();
}

void DirectoryStore::ClearVersionsOf(const std::string& bucket) {
  const Fd directory = OpenVersions(bucket);
  if (!directory.valid()) ::unlinkat(directories_.versions.get(), bucket.c_str(), 0);  // a link
  for (const std::string& name : NamesIn(directory.get())) {
    if (const auto generation = GenerationOf(name)) {
      const auto known = side_->KnowsGeneration(bucket, *generation);
      if (!known.ok() || *known) continue;
    }
    ::unlinkat(directory.get(), name.c_str(), 0);
  }
}

// The directory of a bucket's versions. Follows no link that a trainer put there.
Fd DirectoryStore::OpenVersions(const std::string& bucket) const {
  return OpenBeneath(directories_.versions.get(), bucket, O_RDONLY | O_DIRECTORY);
}

// A directory for a version of the object.
Result<Fd> DirectoryStore::MakeVersions(const std::string& bucket,
                                        const std::string& object) const {
  RETURN_IF_ERROR(RenewOwnDirectory(directories_.root.get(), options_.root / kVersionsDirectory,
                                    directories_.versions));
  ::mkdirat(directories_.versions.get(), bucket.c_str(), 0777);
  Fd directory = OpenVersions(bucket);
  if (!directory.valid()) return errors::CannotKeepVersion(object, errno);
  return directory;
}

void DirectoryStore::RemoveExpired() {
  const auto expired = side_->ExpiredVersions(clock_.Now(), kExpiredAtOnce);
  if (!expired.ok() || expired->empty()) return;  // the next call tries again
  for (const ObjectRecord& record : *expired) {
    side_->StageVersionRemoval(record.info.bucket, record.info.name, record.info.generation);
  }
  if (!side_->Flush().ok()) return;
  for (const ObjectRecord& record : *expired) {
    RemoveVersionFile(record.info.bucket, record.info.generation);
  }
}

void DirectoryStore::RemoveVersionFile(const std::string& bucket, int64_t generation) const {
  const Fd directory = OpenVersions(bucket);
  if (directory.valid()) ::unlinkat(directory.get(), std::to_string(generation).c_str(), 0);
}

// The records are removed with the bucket's record.
void DirectoryStore::ForgetVersions(const std::string& bucket) {
  (void)RemoveTreeAt(directories_.versions.get(), bucket).ok();
}

// With versioning, a protected object may become noncurrent.
Status DirectoryStore::CheckRemoval(const Found& live, const BucketRules& rules) const {
  return rules.versioning ? Status(Ok{}) : CheckDeletable(rules, live.record.info, clock_.Now());
}

// Called before a live object is removed or replaced: checks that this is allowed, and keeps a
// version if required.
Status DirectoryStore::PrepareRemoval(const Found& live, const BucketRules& rules) {
  RETURN_IF_ERROR(CheckRemoval(live, rules));
  kept_bytes_.Forget(live.record.info.generation);
  if (!KeepsVersions(rules)) return Ok{};
  Status kept = KeepVersion(live, rules.versioning, rules);
  if (!kept.ok()) RemoveVersion(live.record.info);
  return kept;
}

bool DirectoryStore::KeepsVersions(const BucketRules& rules) {
  return rules.versioning || rules.soft_delete > Duration(0);
}

bool DirectoryStore::IsInPlace(const BucketTree& tree, const ObjectRecord& record) {
  const auto file = tree.Open(record.info.name);
  return file.ok() && file->identity == record.file;
}

// A change failed after KeepVersion. Keeps the version if the object is not live any more. The
// caller holds the bucket's lock.
void DirectoryStore::TakeVersionBack(const BucketTree& tree, const ObjectRecord& live) {
  if (IsInPlace(tree, live)) RemoveVersion(live.info);
}

// The object with this generation is still live. If the disk refuses this, too, the next change
// that is saved does it, or the next start. The file goes last: a change that failed may be saved
// later, and then the version counts.
void DirectoryStore::RemoveVersion(const ObjectInfo& live) {
  side_->StageVersionRemoval(live.bucket, live.name, live.generation);
  if (side_->Flush().ok()) RemoveVersionFile(live.bucket, live.generation);
}

// A process that ended after KeepVersion may have left the object live.
void DirectoryStore::TakeLiveVersionsBack() {
  const auto kept = side_->VersionsOfLiveObjects();
  if (!kept.ok() || kept->empty()) return;  // the next start tries again
  for (const ObjectRecord& live : *kept) {
    const ObjectInfo& info = live.info;
    const auto tree = OpenBucket(info.bucket);
    if (!tree.ok() || !IsInPlace(*tree, live)) continue;
    side_->StageVersionRemoval(info.bucket, info.name, info.generation);
  }
  (void)side_->Flush().ok();
}

// A small object gets another name: from now on, only its file has its bytes.
Status DirectoryStore::SyncFile(const Found& found) const {
  if (!options_.durable || ::fsync(found.file.fd.get()) == 0) return Ok{};
  return errors::CannotSyncObject(found.record.info.name, errno);
}

Status DirectoryStore::KeepVersion(const Found& found, bool noncurrent, const BucketRules& rules) {
  ObjectRecord record = found.record;
  const std::string& bucket = record.info.bucket;
  const Instant now = clock_.Now();
  if (noncurrent) {
    record.info.time_deleted = now;
  } else {
    record.info.soft_delete_time = now;
    record.info.hard_delete_time = now + rules.soft_delete;
    RemoveExpired();
  }
  RETURN_IF_ERROR(SyncFile(found));
  const int versions = directories_.versions.get();
  const std::string name = std::to_string(record.info.generation);
  const std::string itself = "/proc/self/fd/" + std::to_string(found.file.fd.get());
  ASSIGN_OR_RETURN(const Fd directory, MakeVersions(bucket, record.info.name));
  const int kept = directory.get();
  ::unlinkat(kept, name.c_str(), 0);  // left by an attempt that a crash ended
  if (::linkat(AT_FDCWD, itself.c_str(), kept, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return errors::CannotKeepVersion(record.info.name, errno);
  }
  if (options_.durable && (::fsync(kept) != 0 || ::fsync(versions) != 0)) {
    return errors::CannotSyncVersions(bucket, errno);
  }
  side_->StageVersion(record);
  return side_->Flush();
}

// Deletes a version that is not live, or makes it a soft-deleted one. The caller holds the bucket's
// lock.
Status DirectoryStore::DeleteVersion(const std::string& bucket, const std::string& name,
                                     const Preconditions& preconditions, const Version& version) {
  ASSIGN_OR_RETURN(auto record, side_->FindVersion(bucket, name, version.generation));
  if (!record || record->info.hard_delete_time.has_value() != version.soft_deleted) {
    return errors::ObjectNotFound(bucket, name + "#" + std::to_string(version.generation));
  }
  RETURN_IF_ERROR(CheckPreconditions(preconditions, &record->info));
  ASSIGN_OR_RETURN(const BucketRules rules, RulesFor(bucket));
  RETURN_IF_ERROR(CheckDeletable(rules, record->info, clock_.Now()));
  const bool is_kept = rules.soft_delete > Duration(0) && !record->info.hard_delete_time;
  if (is_kept) {
    ObjectRecord deleted = *record;
    deleted.info.soft_delete_time = clock_.Now();
    deleted.info.hard_delete_time = clock_.Now() + rules.soft_delete;
    side_->StageVersion(deleted);
  } else {
    side_->StageVersionRemoval(bucket, name, version.generation);
  }
  const Status saved = side_->Flush();
  Step();
  if (!saved.ok()) {
    side_->StageVersion(*record);  // else the next change that is saved deletes it
    (void)side_->Flush().ok();     // another thread may have saved the deletion meanwhile
  } else if (!is_kept) {
    RemoveVersionFile(bucket, version.generation);
  }
  return saved;
}

}  // namespace caip::gcs
