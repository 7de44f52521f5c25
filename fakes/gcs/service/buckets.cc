// Operations on buckets.
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_rules.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {
namespace {

constexpr int kBucketTriesMax = 10;

}  // namespace

// A bucket that was made by hand, or for no project, belongs to every project.
BucketPage StorageService::ListBuckets(const BucketQuery& query) const {
  BucketPage page;
  for (Bucket& bucket : store_.ListBuckets()) {
    if (bucket.name <= query.after || !bucket.name.starts_with(query.prefix)) continue;
    const bool foreign = !query.project.empty() && !bucket.project.empty();
    if (foreign && bucket.project != query.project) continue;
    if (page.buckets.size() == query.limit) {
      page.next = page.buckets.back().name;
      break;
    }
    page.buckets.push_back(std::move(bucket));
  }
  return page;
}

Result<Bucket> StorageService::CreateBucket(const Bucket& wanted) {
  return store_.CreateBucket(wanted);
}

Result<Bucket> StorageService::GetBucket(const std::string& name,
                                         const Preconditions& conditions) const {
  ASSIGN_OR_RETURN(Bucket bucket, store_.GetBucket(name));
  RETURN_IF_ERROR(CheckMetagenerationConditions(conditions, bucket.metageneration));
  return bucket;
}

Result<Bucket> StorageService::ChangeBucket(const std::string& name,
                                            const Preconditions& conditions,
                                            const BucketChange& change, bool counts) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(Bucket bucket, GetBucket(name, conditions));
    RETURN_IF_ERROR(change(&bucket));
    if (counts) ++bucket.metageneration;
    auto updated = store_.UpdateBucket(bucket);
    const bool raced = !updated.ok() && updated.error().code == Code::kAborted;
    if (!raced || tries == kBucketTriesMax) return updated;
  }
}

Result<Bucket> StorageService::LockRetentionPolicy(const std::string& name,
                                                   const Preconditions& conditions) {
  return ChangeBucket(name, conditions, [](Bucket* changed) -> Status {
    if (RulesOf(*changed).retention == Duration(0)) {
      return errors::FieldInvalid("retentionPolicy", "there is none to lock");
    }
    auto settings = ParseJson(changed->settings);
    (*settings)["retentionPolicy"]["isLocked"] = true;
    changed->settings = CompactJson(*settings);
    return Ok{};
  });
}

Status StorageService::DeleteBucket(const std::string& name, const Preconditions& conditions) {
  RETURN_IF_ERROR(GetBucket(name, conditions));
  return store_.DeleteBucket(name);
}

}  // namespace caip::gcs
