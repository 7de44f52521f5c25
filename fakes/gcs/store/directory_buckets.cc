// The directory store's buckets.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {

// A directory made by hand becomes a bucket at the first lookup.
Bucket DirectoryStore::BucketRecord(const std::string& name) const {
  if (auto known = side_->FindBucket(name)) return *known;
  Bucket bucket;
  bucket.name = name;
  bucket.time_created = bucket.updated = clock_.Now();
  side_->StageBucket(bucket);
  return bucket;
}

BucketRules DirectoryStore::RulesFor(const std::string& bucket) const {
  return RulesOf(BucketRecord(bucket));
}

Result<Bucket> DirectoryStore::CreateBucket(const Bucket& wanted) {
  const std::string& name = wanted.name;
  if (const auto problem = BucketNameProblem(name))
    return errors::BucketNameInvalid(name, *problem);
  Bucket bucket = wanted;
  {
    const std::lock_guard lock(LockOf(name));
    if (::mkdirat(directories_.root.get(), name.c_str(), 0777) != 0) {
      if (errno == EEXIST) return errors::BucketExists(name);
      return SystemError("cannot make bucket '" + name + "'", errno);
    }
    side_->StageBucketRemoval(name);  // a bucket of that name that was removed by hand
    ForgetVersions(name);
    bucket.metageneration = 1;
    bucket.time_created = bucket.updated = clock_.Now();
    StampSettings(Bucket(), bucket.updated, &bucket);
  }
  RETURN_IF_ERROR(side_->Flush());
  side_->StageBucket(bucket);
  if (options_.durable && ::fsync(directories_.root.get()) != 0) {
    return SystemError("cannot sync the buckets' directory", errno);
  }
  RETURN_IF_ERROR(side_->Flush());
  return bucket;
}

Result<Bucket> DirectoryStore::GetBucket(const std::string& name) const {
  Bucket bucket;
  {
    const std::lock_guard lock(LockOf(name));
    RETURN_IF_ERROR(OpenBucket(name));
    bucket = BucketRecord(name);
  }
  return bucket;
}

std::vector<Bucket> DirectoryStore::ListBuckets() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(options_.root, ignored)) {
    const std::string name = entry.path().filename();
    if (!BucketNameProblem(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::vector<Bucket> buckets;
  for (const std::string& name : names) {
    auto bucket = GetBucket(name);
    if (bucket.ok()) buckets.push_back(std::move(*bucket));
  }
  return buckets;
}

Result<Bucket> DirectoryStore::UpdateBucket(const Bucket& wanted) {
  Bucket bucket;
  {
    const std::lock_guard lock(LockOf(wanted.name));
    RETURN_IF_ERROR(OpenBucket(wanted.name));
    const Bucket now = BucketRecord(wanted.name);
    if (now.revision != wanted.revision) return errors::BucketChanged(wanted.name);
    bucket = wanted;
    bucket.time_created = now.time_created;
    const bool counts = bucket.metageneration != now.metageneration;
    bucket.updated = counts ? clock_.Now() : now.updated;
    StampSettings(now, bucket.updated, &bucket);
    ++bucket.revision;
    side_->StageBucket(bucket);
  }
  RETURN_IF_ERROR(side_->Flush());
  return bucket;
}

Status DirectoryStore::DeleteBucket(const std::string& name) {
  {
    const std::lock_guard lock(LockOf(name));
    ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(name));
    ListQuery any;
    any.max_results = 1;
    ListingPage page(any, "");
    WalkTree(tree.fd(), cache_, page);
    RETURN_IF_ERROR(side_->Flush());
    const bool kept = !side_->VersionsFrom(name, "", 0, false, 1).empty();
    if (kept || !page.entries().empty()) return errors::BucketNotEmpty(name);
    if (!tree.RemoveEmptyDirectories()) return errors::BucketHoldsStrangers(name);
    if (::unlinkat(directories_.root.get(), name.c_str(), AT_REMOVEDIR) != 0) {
      return SystemError("cannot remove bucket '" + name + "'", errno);
    }
    side_->StageBucketRemoval(name);
    ForgetVersions(name);
  }
  if (options_.durable && ::fsync(directories_.root.get()) != 0) {
    return SystemError("cannot sync the buckets' directory", errno);
  }
  return side_->Flush();
}

}  // namespace caip::gcs
