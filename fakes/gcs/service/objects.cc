// Operations on objects, except those that write bytes.
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/object_rules.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {
namespace {

constexpr int kObjectTriesMax = 10;

bool IsWanted(const BulkRestore& wanted, const ObjectInfo& info) {
  const Instant deleted = info.soft_delete_time.value_or(Instant());
  if (wanted.deleted_after && deleted < *wanted.deleted_after) return false;
  if (wanted.deleted_before && deleted > *wanted.deleted_before) return false;
  if (wanted.globs.empty()) return true;
  for (const Glob& glob : wanted.globs) {
    if (glob.Matches(info.name)) return true;
  }
  return false;
}

}  // namespace

Result<ObjectPage> StorageService::ListObjects(const std::string& bucket, ListQuery query,
                                               bool with_folders) const {
  ObjectPage page;
  ASSIGN_OR_RETURN(page.bucket, store_.GetBucket(bucket));
  if (with_folders) {
    for (const ManagedFolder& folder : ManagedFoldersOf(page.bucket)) {
      query.folders.push_back(folder.name);
    }
  }
  ASSIGN_OR_RETURN(page.listing, store_.List(bucket, query));
  return page;
}

Result<ObjectInfo> StorageService::GetObject(const ObjectName& object,
                                             const Version& version) const {
  return store_.GetObject(object.bucket, object.name, version);
}

Result<std::shared_ptr<ObjectReader>> StorageService::OpenObject(const ObjectName& object,
                                                                 const Version& version) const {
  ASSIGN_OR_RETURN(auto reader, store_.OpenObject(object.bucket, object.name, version));
  return std::shared_ptr<ObjectReader>(std::move(reader));
}

Result<ObjectInfo> StorageService::ChangeObject(const ObjectName& object, const Version& version,
                                                const Preconditions& conditions,
                                                const ObjectChange& change,
                                                bool may_weaken_retention) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(ObjectInfo info, GetObject(object, version));
    RETURN_IF_ERROR(CheckPreconditions(conditions, &info));  // before any rule of the fields
    Preconditions unchanged = conditions;
    if (!unchanged.if_metageneration_match) unchanged.if_metageneration_match = info.metageneration;
    const std::string retention = info.retention;
    RETURN_IF_ERROR(change(&info));
    RETURN_IF_ERROR(CheckObjectFields(info));
    RETURN_IF_ERROR(CheckRetentionChange(retention, info.retention, may_weaken_retention));
    auto updated = store_.UpdateObject(info, unchanged);
    if (updated.ok()) return updated;
    const bool raced = updated.error().code == Code::kFailedPrecondition ||
                       updated.error().code == Code::kNotFound;
    if (!raced || conditions.if_metageneration_match || tries == kObjectTriesMax) return updated;
  }
}

Status StorageService::DeleteObject(const ObjectName& object, const Version& version,
                                    const Preconditions& conditions) {
  return store_.DeleteObject(object.bucket, object.name, conditions, version);
}

Result<ObjectInfo> StorageService::MoveObject(const ObjectName& from, const std::string& to,
                                              const Preconditions& of_source,
                                              const Preconditions& of_target) {
  return store_.MoveObject(from.bucket, from.name, to, of_source, of_target);
}

Result<ObjectInfo> StorageService::Restore(const ObjectName& object, int64_t generation,
                                           const Preconditions& conditions, bool with_acl) {
  ASSIGN_OR_RETURN(const auto source, OpenObject(object, {generation, true}));
  ASSIGN_OR_RETURN(const auto writer, store_.NewObject(object.bucket, object.name));
  ObjectInfo info = source->info();
  if (!with_acl) info.acl.clear();
  RETURN_IF_ERROR(writer->AppendFrom(*source, 0, info.size));
  return writer->Commit(std::move(info), conditions, std::nullopt, std::nullopt);
}

Result<BulkRestored> StorageService::RestoreMany(const std::string& bucket,
                                                 const BulkRestore& wanted) {
  std::map<std::string, int64_t> newest;  // of each name the version that was deleted last
  ListQuery query;
  query.soft_deleted = true;
  do {
    ASSIGN_OR_RETURN(const Listing listing, store_.List(bucket, query));
    for (const ObjectInfo& info : listing.items) {
      if (IsWanted(wanted, info)) newest[info.name] = info.generation;
    }
    query.page_token = listing.next_page_token;
  } while (!query.page_token.empty());
  Preconditions conditions;
  if (!wanted.overwrite) conditions.if_generation_match = 0;
  BulkRestored done;
  for (const auto& [name, generation] : newest) {
    const auto info = Restore({bucket, name}, generation, conditions, wanted.with_acl);
    if (!info.ok() && info.error().code != Code::kFailedPrecondition) return info.error();
    ++(info.ok() ? done.restored : done.skipped);
  }
  return done;
}

}  // namespace caip::gcs
