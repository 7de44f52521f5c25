#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/upload.h"
#include "fakes/gcs/store/glob.h"
#include "fakes/gcs/store/preconditions.h"
#include "fakes/gcs/store/text_fields.h"

namespace caip::gcs {
namespace {

constexpr int kObjectMethodsUpdateTries = 10;

// Sums of files dropped by hand mean reading them: not when the client does not want them.
bool WantsHashes(const Request& request) {
  const std::string_view fields = request.Query("fields");
  for (std::string_view name : {"md5Hash", "crc32c", "*"}) {
    if (fields.find(name) != std::string_view::npos) return true;
  }
  const bool whole_items = fields.ends_with("items") || fields.find("items,") != std::string::npos;
  return fields.empty() || whole_items;
}

Result<ListQuery> ListQueryOf(const Request& request) {
  ListQuery query;
  query.prefix = std::string(request.Query("prefix"));
  query.delimiter = std::string(request.Query("delimiter"));
  query.start_offset = std::string(request.Query("startOffset"));
  query.end_offset = std::string(request.Query("endOffset"));
  query.include_trailing_delimiter = IsTrue(request.Query("includeTrailingDelimiter"));
  query.page_token = std::string(request.Query("pageToken"));
  query.with_hashes = WantsHashes(request);
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, "maxResults"));
  if (wanted && *wanted < 0) {
    return errors::ParameterInvalid("maxResults", request.Query("maxResults"),
                                    "expected a number from 1 to 1000");
  }
  if (wanted) query.max_results = static_cast<int>(std::min<int64_t>(*wanted, 1000));
  if (request.HasQuery("filter")) {
    return errors::NotImplemented("objects.list's parameter 'filter'");
  }
  query.match_glob = std::string(request.Query("matchGlob"));
  if (const auto problem = Glob::Problem(query.match_glob)) {
    return errors::ParameterInvalid("matchGlob", query.match_glob, *problem);
  }
  query.versions = IsTrue(request.Query("versions"));
  query.soft_deleted = IsTrue(request.Query("softDeleted"));
  if (query.versions && query.soft_deleted) {
    return errors::ParameterInvalid("softDeleted", "true", "versions=true forbids it");
  }
  return query;
}

// A retention that is locked may only grow; one that is not needs a word to shrink.
Status CheckRetentionChange(const Request& request, const std::string& before,
                            const std::string& after) {
  if (before.empty() || before == after) return Ok{};
  const auto old = ParseJson(before);
  const auto now = ParseJson(after);
  const auto until = [](const Result<Json>& json) {
    const auto end = ParseRfc3339(json.ok() ? StringOr(*json, "retainUntilTime") : "");
    return end.value_or(Instant());
  };
  const bool locked = old.ok() && StringOr(*old, "mode") == "Locked";
  const bool weaker = until(now) < until(old) || (locked && StringOr(*now, "mode") != "Locked");
  if (!weaker || (!locked && IsTrue(request.Query("overrideUnlockedRetention")))) return Ok{};
  return errors::ObjectRetained(locked);
}

Status ApplyChange(const Request& request, const Json& resource, ObjectInfo* info) {
  const std::string retention = info->retention;
  RETURN_IF_ERROR(ApplyObjectFields(resource, info));
  if (request.HasQuery("predefinedAcl")) {
    ASSIGN_OR_RETURN(const Json acl, PredefinedAcl(request.Query("predefinedAcl")));
    info->acl = CompactJson(acl);
  }
  return CheckRetentionChange(request, retention, info->retention);
}

}  // namespace

Result<ObjectInfo> ChangeObject(StorageApi& api, const Request& request, const PathParameters& path,
                                const std::function<Status(ObjectInfo*)>& change) {
  ASSIGN_OR_RETURN(const Preconditions asked, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(ObjectInfo info,
                     api.store.GetObject(path.At("bucket"), path.At("object"), version));
    Preconditions conditions = asked;
    if (!conditions.if_metageneration_match)
      conditions.if_metageneration_match = info.metageneration;
    RETURN_IF_ERROR(CheckPreconditions(asked, &info));  // before any rule of the fields
    RETURN_IF_ERROR(change(&info));
    auto updated = api.store.UpdateObject(info, conditions);
    if (updated.ok()) return updated;
    const bool raced = updated.error().code == Code::kFailedPrecondition ||
                       updated.error().code == Code::kNotFound;
    if (!raced || asked.if_metageneration_match || tries == kObjectMethodsUpdateTries)
      return updated.error();
  }
}

// GET /b/{bucket}/o
Result<Response> ListObjects(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(ListQuery query, ListQueryOf(request));
  // "Only applicable if delimiter is set to '/'" (the method's discovery document).
  if (IsTrue(request.Query("includeFoldersAsPrefixes")) && query.delimiter == "/") {
    ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
    query.folders = ManagedFoldersOf(bucket);
  }
  ASSIGN_OR_RETURN(const Listing listing, api.store.List(path.At("bucket"), query));
  Json page = {{"kind", "storage#objects"}};
  if (!listing.next_page_token.empty()) page["nextPageToken"] = listing.next_page_token;
  if (!listing.prefixes.empty()) page["prefixes"] = listing.prefixes;
  if (!listing.items.empty()) {
    Json items = Json::array();
    ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
    const BucketRules rules = RulesOf(bucket);
    for (const ObjectInfo& info : listing.items) {
      items.push_back(RenderedObject(bucket, rules, request, info));
    }
    page["items"] = std::move(items);
  }
  return Rendered(page);
}

// GET /b/{bucket}/o/{object}
Result<Response> GetObject(StorageApi& api, const Request& request, const PathParameters& path) {
  if (request.Query("alt") == "media") return DownloadObject(api, request, path);
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   api.store.GetObject(path.At("bucket"), path.At("object"), version));
  ASSIGN_OR_RETURN(auto not_modified, CheckReadConditions(request, info));
  if (not_modified) return std::move(*not_modified);
  Response response = Rendered(RenderedObject(api, request, info));
  response.headers.Add("ETag", EtagOf(info));
  return response;
}

// PATCH /b/{bucket}/o/{object}: what is not named stays.
Result<Response> PatchObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   ChangeObject(api, request, path, [&](ObjectInfo* changed) {
                     return ApplyChange(request, resource, changed);
                   }));
  return Rendered(RenderedObject(api, request, info));
}

// PUT /b/{bucket}/o/{object}: what is not named is cleared.
Result<Response> UpdateObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   ChangeObject(api, request, path, [&](ObjectInfo* changed) {
                     const ObjectInfo fresh;
                     for (const TextField& field : kTextFields) {
                       const bool stays = std::string_view(field.name) == "kmsKeyName";
                       if (!stays) changed->*field.member = fresh.*field.member;
                     }
                     for (const FlagField& flag : kFlagFields) changed->*flag.member = false;
                     changed->contexts.clear();
                     changed->metadata.clear();
                     return ApplyChange(request, resource, changed);
                   }));
  return Rendered(RenderedObject(api, request, info));
}

// DELETE /b/{bucket}/o/{object}
Result<Response> DeleteObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions preconditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  RETURN_IF_ERROR(
      api.store.DeleteObject(path.At("bucket"), path.At("object"), preconditions, version));
  return NoContent();
}

// POST /b/{bucket}/o/{object}/moveTo/o/{toObject}
Result<Response> MoveObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions of_target, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Preconditions of_source, PreconditionsOf(request, "ifSource"));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   api.store.MoveObject(path.At("bucket"), path.At("object"), path.At("toObject"),
                                        of_source, of_target));
  return Rendered(RenderedObject(api, request, info));
}

}  // namespace caip::gcs
