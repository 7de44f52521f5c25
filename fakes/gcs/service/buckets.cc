// Operations on buckets.

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/notification_checks.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

constexpr int kBucketTriesMax = 10;

}  // namespace

// A bucket without a project, for example one that was made by hand, belongs to every project.
Result<BucketPage> StorageService::ListBuckets(const BucketQuery& query) const {
  ASSIGN_OR_RETURN(std::vector<Bucket> buckets, store_.ListBuckets());
  BucketPage page;
  for (Bucket& bucket : buckets) {
    if (bucket.name <= query.after || !bucket.name.starts_with(query.prefix)) continue;
    const bool foreign = !query.project.empty() && !bucket.project.empty();
    if (foreign && bucket.project != query.project) continue;
    if (page.buckets.size() == query.limit) {
      page.next = page.buckets.back().name;
      break;
    }
    bucket.project_number = project_number_;
    page.buckets.push_back(stored_settings_.Readable(std::move(bucket)));
  }
  return page;
}

Result<Bucket> StorageService::CreateBucket(const Bucket& wanted) {
  RETURN_IF_ERROR(CheckPublicAccess({}, wanted));
  ASSIGN_OR_RETURN(Bucket bucket, store_.CreateBucket(wanted));
  bucket.project_number = project_number_;
  return bucket;
}

Result<Bucket> StorageService::GetBucket(const std::string& name,
                                         const Preconditions& conditions) const {
  ASSIGN_OR_RETURN(Bucket stored, store_.GetBucket(name));
  return CheckedBucket(std::move(stored), conditions);
}

Result<Bucket> StorageService::CheckedBucket(Bucket stored, const Preconditions& conditions) const {
  Bucket bucket = stored_settings_.Readable(std::move(stored));
  bucket.project_number = project_number_;
  RETURN_IF_ERROR(CheckMetagenerationConditions(conditions, bucket.metageneration));
  return bucket;
}

Result<Bucket> StorageService::ChangeBucket(const std::string& name,
                                            const Preconditions& conditions,
                                            const BucketChange& change, bool counts) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(Bucket stored, store_.GetUnsavedBucket(name));
    ASSIGN_OR_RETURN(const Bucket before, CheckedBucket(std::move(stored), conditions));
    Bucket bucket = before;
    RETURN_IF_ERROR(change(&bucket));
    RETURN_IF_ERROR(CheckPublicAccess(before, bucket));
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
  Status deleted = store_.DeleteBucket(name);
  stored_settings_.Forget(name);  // an error may come after the deletion
  return deleted;
}

// Notification configurations, to which nothing is ever published, and managed folders, which are
// name prefixes with IAM policies. Both are stored among a bucket's policies.

namespace {

constexpr const char* kFolders = "managedFolders";
constexpr const char* kNotifications = "notifications";

// False if the folder holds an object, live or not, or another managed folder.
Result<bool> IsEmptyFolder(const BucketStore& store, const Bucket& bucket,
                           const std::string& name) {
  for (const ManagedFolder& other : ManagedFoldersOf(bucket)) {
    if (other.name != name && other.name.starts_with(name)) return false;
  }
  ListQuery query{.prefix = name, .max_results = 1, .versions = true};
  query.with_hashes = false;
  ASSIGN_OR_RETURN(const Listing listing, store.List(bucket.name, query));
  return listing.items.empty();
}

// https://cloud.google.com/storage/docs/managed-folders#names. `name` ends in "/".
std::optional<std::string> FolderNameProblem(const std::string& name) {
  constexpr std::ptrdiff_t kLevelsMax = 15;
  if (name == "./" || name == "../") return "it must not be '.' or '..'";
  if (std::count(name.begin(), name.end(), '/') > kLevelsMax) {
    return "it may have 15 slashes at most, with the one at its end";
  }
  return ObjectNameProblem(name);
}

// A folder that an earlier version stored has no updateTime.
ManagedFolder FolderOf(const std::string& name, const Json& kept) {
  const std::string created = StringOr(kept, "createTime");
  const std::string updated = StringOr(kept, "updateTime");
  return {name, created, updated.empty() ? created : updated};
}

const Json* FindEntry(const Json& policies, const char* list, const std::string& key) {
  const Json* all = Member(policies, list);
  return all ? Member(*all, key) : nullptr;
}

Status EraseEntry(const char* list, const char* kind, const std::string& key, Json* policies) {
  Json& entries = (*policies)[list];
  const bool erased = entries.is_object() && entries.erase(key) != 0;
  return erased ? Status(Ok{}) : errors::EntryNotFound(kind, key);
}

}  // namespace

std::vector<ManagedFolder> ManagedFoldersOf(const Bucket& bucket) {
  std::vector<ManagedFolder> folders;
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, kFolders);
  if (kept == nullptr) return folders;
  for (const auto& [name, folder] : kept->items()) {
    folders.push_back(FolderOf(name, folder));
  }
  std::sort(folders.begin(), folders.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return folders;
}

Result<std::vector<ManagedFolder>> StorageService::ListManagedFolders(
    const std::string& bucket) const {
  ASSIGN_OR_RETURN(const Bucket found, GetBucket(bucket));
  return ManagedFoldersOf(found);
}

Result<ManagedFolder> StorageService::GetManagedFolder(const ObjectName& folder) const {
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(folder.bucket));
  const Json policies = PoliciesOf(bucket);
  const Json* found = FindEntry(policies, kFolders, folder.name);
  if (found == nullptr) return errors::EntryNotFound("managed folder", folder.name);
  return FolderOf(folder.name, *found);
}

Result<ManagedFolder> StorageService::InsertManagedFolder(const ObjectName& folder) {
  if (const auto problem = FolderNameProblem(folder.name)) {
    return errors::FolderNameInvalid(folder.name, *problem);
  }
  std::string now;
  const auto change = [&](Bucket* changed) -> Status {
    if (!RulesOf(*changed).uniform_access) return errors::FoldersNeedUniformAccess();
    Json policies = PoliciesOf(*changed);
    if (policies[kFolders].contains(folder.name)) return errors::FolderExists();
    now = Rfc3339(store_.Now(), 3);
    policies[kFolders][folder.name] = {{"createTime", now}, {"updateTime", now}};
    SetPolicies(policies, changed);
    return Ok{};
  };
  RETURN_IF_ERROR(ChangeBucket(folder.bucket, {}, change, false));
  return ManagedFolder{folder.name, now, now};
}

Status StorageService::DeleteManagedFolder(const ObjectName& folder,
                                           const Preconditions& conditions, bool allow_non_empty) {
  RETURN_IF_ERROR(GetManagedFolder(folder));
  RETURN_IF_ERROR(CheckMetagenerationConditions(conditions, ManagedFolder::kMetageneration));
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(folder.bucket));
  ASSIGN_OR_RETURN(const bool is_empty, IsEmptyFolder(store_, bucket, folder.name));
  if (!is_empty && !allow_non_empty) return errors::FolderNotEmpty(folder.name);
  const auto change = [&](Bucket* changed) -> Status {
    Json policies = PoliciesOf(*changed);
    RETURN_IF_ERROR(EraseEntry(kFolders, "managed folder", folder.name, &policies));
    if (policies.contains("iam")) policies["iam"].erase(folder.name);
    SetPolicies(policies, changed);
    return Ok{};
  };
  RETURN_IF_ERROR(ChangeBucket(bucket.name, {}, change, false));
  return Ok{};
}

Result<std::vector<Json>> StorageService::ListNotifications(const std::string& bucket) const {
  ASSIGN_OR_RETURN(const Bucket found, GetBucket(bucket));
  std::vector<Json> list;
  const Json policies = PoliciesOf(found);
  const Json* kept = Member(policies, kNotifications);
  if (kept == nullptr) return list;
  for (const auto& [id, notification] : kept->items()) {
    if (auto readable = ReadableNotification(notification)) list.push_back(std::move(*readable));
  }
  return list;
}

Result<Json> StorageService::GetNotification(const std::string& bucket,
                                             const std::string& id) const {
  ASSIGN_OR_RETURN(const Bucket found, GetBucket(bucket));
  const Json policies = PoliciesOf(found);
  const Json* kept = FindEntry(policies, kNotifications, id);
  auto readable = kept ? ReadableNotification(*kept) : std::nullopt;
  if (!readable) return errors::EntryNotFound("notification", id);
  return std::move(*readable);
}

Result<Json> StorageService::InsertNotification(const std::string& bucket, const Json& body,
                                                const std::string& link,
                                                const Preconditions& conditions) {
  ASSIGN_OR_RETURN(Json wanted, ReadNotification(body));
  const auto change = [&](Bucket* changed) -> Status {
    Json policies = PoliciesOf(*changed);
    const Json* kept = Member(policies, kNotifications);
    RETURN_IF_ERROR(CheckNotificationCount(kept ? *kept : Json::object(), wanted));
    const long long number = IntOr(policies, "lastNotification", 0) + 1;
    const std::string id = std::to_string(number);
    wanted["kind"] = "storage#notification";
    wanted["id"] = id;
    wanted["etag"] = id;
    wanted["selfLink"] = link + id;
    policies["lastNotification"] = number;
    policies[kNotifications][id] = wanted;
    SetPolicies(policies, changed);
    return Ok{};
  };
  RETURN_IF_ERROR(ChangeBucket(bucket, conditions, change, false));
  return wanted;
}

Status StorageService::DeleteNotification(const std::string& bucket, const std::string& id,
                                          const Preconditions& conditions) {
  const auto change = [&](Bucket* changed) -> Status {
    Json policies = PoliciesOf(*changed);
    RETURN_IF_ERROR(EraseEntry(kNotifications, "notification", id, &policies));
    SetPolicies(policies, changed);
    return Ok{};
  };
  RETURN_IF_ERROR(ChangeBucket(bucket, conditions, change, false));
  return Ok{};
}

}  // namespace caip::gcs
