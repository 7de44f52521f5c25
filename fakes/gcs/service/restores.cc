// Restores objects that were soft-deleted.

#include <map>
#include <utility>

#include "fakes/gcs/service/storage_service.h"

namespace caip::gcs {
namespace {

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

// A live object is in the way, or is held or retained, or the deleted one has expired meanwhile.
bool ConcernsOneObject(Code failure) {
  return failure == Code::kFailedPrecondition || failure == Code::kPermissionDenied ||
         failure == Code::kNotFound;
}

}  // namespace

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
  std::map<std::string, int64_t> newest;  // by name, the version deleted last
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
    if (!info.ok() && !ConcernsOneObject(info.error().code)) return info.error();
    ++(info.ok() ? done.restored : done.skipped);
  }
  return done;
}

}  // namespace caip::gcs
