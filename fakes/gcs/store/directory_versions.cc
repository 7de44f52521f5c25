// Noncurrent and soft-deleted versions, as .caip-versions/<bucket>/<generation>. The order of steps
// matters: a version's record is on disk before the live file goes, and is deleted before the
// version's file. So a crash leaves at most a version twice (the live one counts), or a file
// without a record (removed at the next start).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::gcs {
namespace {

constexpr int kExpiredAtOnce = 1000;

std::optional<int64_t> GenerationOf(const std::string& leaf) {
  int64_t generation = 0;
  const char* const last = leaf.data() + leaf.size();
  const auto [end, error] = std::from_chars(leaf.data(), last, generation);
  return error == std::errc() && end == last ? std::optional(generation) : std::nullopt;
}

}  // namespace

// Removes files without records and expired versions. Called at the start.
void DirectoryStore::ClearVersions() {
  std::error_code ignored;
  const Path root = options_.root / ".caip-versions";
  for (const auto& bucket : std::filesystem::directory_iterator(root, ignored)) {
    for (const auto& file : std::filesystem::directory_iterator(bucket.path(), ignored)) {
      const auto generation = GenerationOf(file.path().filename());
      const bool known =
          generation && side_->KnowsGeneration(bucket.path().filename(), *generation);
      if (!known) ::unlink(file.path().c_str());
    }
  }
  RemoveExpired();
}

void DirectoryStore::RemoveExpired() {
  const auto expired = side_->VersionsBeyond(clock_.Now(), kExpiredAtOnce);
  if (expired.empty()) return;
  for (const ObjectRecord& record : expired) {
    side_->StageVersionRemoval(record.info.bucket, record.info.name, record.info.generation);
  }
  if (!side_->Flush().ok()) return;  // tried again next time
  for (const ObjectRecord& record : expired) {
    RemoveVersionFile(record.info.bucket, record.info.generation);
  }
}

void DirectoryStore::RemoveVersionFile(const std::string& bucket, int64_t generation) const {
  const std::string path = bucket + "/" + std::to_string(generation);
  ::unlinkat(directories_.versions.get(), path.c_str(), 0);
}

// The records are removed with the bucket's record.
void DirectoryStore::ForgetVersions(const std::string& bucket) {
  RemoveTree(options_.root / ".caip-versions" / bucket);
}

// Prepares for a live object's end: checks that it is allowed, and keeps a version if required.
Status DirectoryStore::MakeWay(const Found& live, const BucketRules& rules) {
  if (rules.versioning) return Keep(live, true, rules);
  RETURN_IF_ERROR(MayLose(rules, live.record.info, clock_.Now()));
  if (rules.soft_delete > Duration(0)) return Keep(live, false, rules);
  return Ok{};
}

Status DirectoryStore::Keep(const Found& found, bool noncurrent, const BucketRules& rules) {
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
  const int versions = directories_.versions.get();
  const std::string path = bucket + "/" + std::to_string(record.info.generation);
  const std::string itself = "/proc/self/fd/" + std::to_string(found.file.fd.get());
  ::mkdirat(versions, bucket.c_str(), 0777);
  ::unlinkat(versions, path.c_str(), 0);  // of an attempt that a crash ended
  if (::linkat(AT_FDCWD, itself.c_str(), versions, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return SystemError("cannot keep a version of object '" + record.info.name + "'", errno);
  }
  if (options_.durable) {
    const Fd directory = OpenBeneath(versions, bucket, O_RDONLY | O_DIRECTORY);
    if (!directory.valid() || ::fsync(directory.get()) != 0 || ::fsync(versions) != 0) {
      return SystemError("cannot sync the versions of bucket '" + bucket + "'", errno);
    }
  }
  side_->StageVersion(record);
  return side_->Flush();
}

// Deletes a version that is not live, or makes it a soft-deleted one.
Status DirectoryStore::DeleteVersion(const std::string& bucket, const std::string& name,
                                     const Preconditions& preconditions, const Version& version) {
  auto record = side_->FindVersion(bucket, name, version.generation);
  if (!record || record->info.hard_delete_time.has_value() != version.soft_deleted) {
    return errors::ObjectNotFound(bucket, name + "#" + std::to_string(version.generation));
  }
  RETURN_IF_ERROR(CheckPreconditions(preconditions, &record->info));
  const BucketRules rules = RulesFor(bucket);
  RETURN_IF_ERROR(MayLose(rules, record->info, clock_.Now()));
  if (rules.soft_delete > Duration(0) && !record->info.hard_delete_time) {
    record->info.soft_delete_time = clock_.Now();
    record->info.hard_delete_time = clock_.Now() + rules.soft_delete;
    side_->StageVersion(*record);
    return side_->Flush();
  }
  side_->StageVersionRemoval(bucket, name, version.generation);
  RETURN_IF_ERROR(side_->Flush());
  RemoveVersionFile(bucket, version.generation);
  return Ok{};
}

}  // namespace caip::gcs
