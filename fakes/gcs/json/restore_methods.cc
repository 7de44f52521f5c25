// Bringing soft-deleted objects back. They stay among the soft-deleted ones, as with the service.
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/service/upload.h"
#include "fakes/gcs/store/glob.h"

namespace caip::gcs {
namespace {

Result<ObjectInfo> Restore(StorageApi& api, const std::string& bucket, const std::string& name,
                           int64_t generation, const Preconditions& preconditions, bool with_acl) {
  ASSIGN_OR_RETURN(const auto source, api.store.OpenObject(bucket, name, {generation, true}));
  ASSIGN_OR_RETURN(const auto writer, api.store.NewObject(bucket, name));
  ObjectInfo info = source->info();
  if (!with_acl) info.acl.clear();
  RETURN_IF_ERROR(writer->AppendFrom(*source, 0, info.size));
  return writer->Commit(std::move(info), preconditions, std::nullopt, std::nullopt);
}

// Which soft-deleted objects a bulk restore is for.
struct Wanted {
  std::vector<Glob> globs;
  std::optional<Instant> after;
  std::optional<Instant> before;

  bool Includes(const ObjectInfo& info) const {
    const Instant deleted = info.soft_delete_time.value_or(Instant());
    if ((after && deleted < *after) || (before && deleted > *before)) return false;
    if (globs.empty()) return true;
    for (const Glob& glob : globs) {
      if (glob.Matches(info.name)) return true;
    }
    return false;
  }
};

Result<Wanted> WantedBy(const Json& body) {
  Wanted wanted;
  if (const Json* globs = Member(body, "matchGlobs"); globs && globs->is_array()) {
    for (const Json& glob : *globs) {
      const std::string text = glob.is_string() ? glob.get<std::string>() : "";
      if (const auto problem = Glob::Problem(text)) {
        return errors::FieldInvalid("matchGlobs", *problem);
      }
      wanted.globs.emplace_back(text);
    }
  }
  for (const auto& [name, into] : {std::pair("softDeletedAfterTime", &wanted.after),
                                   std::pair("softDeletedBeforeTime", &wanted.before)}) {
    if (!Member(body, name)) continue;
    *into = ParseRfc3339(StringOr(body, name));
    if (!*into) return errors::FieldInvalid(name, "expected an RFC 3339 time");
  }
  return wanted;
}

}  // namespace

// POST /b/{bucket}/o/{object}/restore
Result<Response> RestoreObject(StorageApi& api, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const auto generation, IntParameter(request, "generation"));
  if (!generation) return errors::Required("generation");
  ASSIGN_OR_RETURN(const Preconditions preconditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   Restore(api, path.At("bucket"), path.At("object"), *generation, preconditions,
                           IsTrue(request.Query("copySourceAcl"))));
  return Rendered(RenderedObject(api, request, info));
}

// POST /b/{bucket}/o/bulkRestore. Done before the answer goes out, so the operation is done, too.
Result<Response> BulkRestoreObjects(StorageApi& api, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  ASSIGN_OR_RETURN(const Wanted wanted, WantedBy(body));
  const Json* overwrite = Member(body, "allowOverwrite");
  const Json* with_acl = Member(body, "copySourceAcl");
  Preconditions preconditions;
  if (overwrite == nullptr || *overwrite != true) preconditions.if_generation_match = 0;
  const std::string& bucket = path.At("bucket");
  std::map<std::string, int64_t> newest;  // of each name the one that went last
  ListQuery query;
  query.soft_deleted = true;
  do {
    ASSIGN_OR_RETURN(const Listing listing, api.store.List(bucket, query));
    for (const ObjectInfo& info : listing.items) {
      if (wanted.Includes(info)) newest[info.name] = info.generation;
    }
    query.page_token = listing.next_page_token;
  } while (!query.page_token.empty());
  int64_t restored = 0;
  int64_t skipped = 0;
  for (const auto& [name, generation] : newest) {
    const auto info = Restore(api, bucket, name, generation, preconditions,
                              with_acl != nullptr && *with_acl == true);
    if (!info.ok() && info.error().code != Code::kFailedPrecondition) return info.error();
    ++(info.ok() ? restored : skipped);
  }
  return Rendered(Json{
      {"kind", "storage#operation"},
      {"name", "projects/_/buckets/" + bucket + "/operations/bulk-restore"},
      {"done", true},
      {"metadata",
       {{"succeededCount", std::to_string(restored)}, {"skippedCount", std::to_string(skipped)}}},
      {"response", Json::object()}});
}

}  // namespace caip::gcs
