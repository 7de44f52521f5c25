#include "base/json.h"
#include "fakes/gcs/api_methods.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/upload.h"

namespace caip::gcs {
namespace {

constexpr int kUpdateTries = 10;

// Sums of files dropped by hand mean reading them: not when the client does not want them.
bool WantsHashes(const Request& request) {
  const std::string_view fields = request.Query("fields");
  for (std::string_view name : {"md5Hash", "crc32c", "*"}) {
    if (fields.find(name) != std::string_view::npos) return true;
  }
  const bool whole_items = fields.ends_with("items") || fields.find("items,") != std::string::npos;
  return fields.empty() || whole_items;
}

bool IsTrue(std::string_view text) { return text == "true" || text == "True" || text == "1"; }

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
  for (const char* name : {"matchGlob", "filter"}) {
    if (request.HasQuery(name)) {
      return errors::NotImplemented(std::string("objects.list's parameter '") + name + "'");
    }
  }
  if (IsTrue(request.Query("softDeleted"))) {
    return errors::NotImplemented("objects.list's parameter 'softDeleted'");
  }
  return query;
}

// Reads, changes and writes back. Without conditions of the client's own it tries again when
// another one was faster.
template <typename Change>
Result<Response> ChangeObject(StorageApi& api, const Request& request, const PathParameters& path,
                              const Change& change) {
  ASSIGN_OR_RETURN(const Preconditions asked, PreconditionsOf(request));
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(ObjectInfo info, api.store.GetObject(path.At("bucket"), path.At("object")));
    RETURN_IF_ERROR(CheckGeneration(request, "generation", info));
    Preconditions conditions = asked;
    if (!conditions.if_metageneration_match)
      conditions.if_metageneration_match = info.metageneration;
    RETURN_IF_ERROR(change(&info));
    const auto updated = api.store.UpdateObject(info, conditions);
    if (updated.ok()) return Rendered(ObjectJson(*updated, BaseOf(request)));
    const bool raced = updated.error().code == Code::kFailedPrecondition ||
                       updated.error().code == Code::kNotFound;
    if (!raced || asked.if_metageneration_match || tries == kUpdateTries) return updated.error();
  }
}

}  // namespace

// GET /b/{bucket}/o. There are no noncurrent versions, so `versions` changes nothing.
Result<Response> ListObjects(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const ListQuery query, ListQueryOf(request));
  ASSIGN_OR_RETURN(const Listing listing, api.store.List(path.At("bucket"), query));
  Json page = {{"kind", "storage#objects"}};
  if (!listing.next_page_token.empty()) page["nextPageToken"] = listing.next_page_token;
  if (!listing.prefixes.empty()) page["prefixes"] = listing.prefixes;
  if (!listing.items.empty()) {
    Json items = Json::array();
    const std::string base = BaseOf(request);
    for (const ObjectInfo& info : listing.items) items.push_back(ObjectJson(info, base));
    page["items"] = std::move(items);
  }
  return Rendered(page);
}

// GET /b/{bucket}/o/{object}
Result<Response> GetObject(StorageApi& api, const Request& request, const PathParameters& path) {
  if (request.Query("alt") == "media") return DownloadObject(api, request, path);
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   api.store.GetObject(path.At("bucket"), path.At("object")));
  RETURN_IF_ERROR(CheckGeneration(request, "generation", info));
  ASSIGN_OR_RETURN(auto not_modified, CheckReadConditions(request, info));
  if (not_modified) return std::move(*not_modified);
  Response response = Rendered(ObjectJson(info, BaseOf(request)));
  response.headers.Add("ETag", EtagOf(info));
  return response;
}

// PATCH /b/{bucket}/o/{object}: what is not named stays.
Result<Response> PatchObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  return ChangeObject(api, request, path,
                      [&](ObjectInfo* info) { return ApplyObjectFields(resource, info); });
}

// PUT /b/{bucket}/o/{object}: what is not named is cleared.
Result<Response> UpdateObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  return ChangeObject(api, request, path, [&](ObjectInfo* info) {
    ObjectInfo fresh;
    fresh.bucket = info->bucket;
    fresh.name = info->name;
    fresh.generation = info->generation;
    *info = std::move(fresh);
    return ApplyObjectFields(resource, info);
  });
}

// DELETE /b/{bucket}/o/{object}
Result<Response> DeleteObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(Preconditions preconditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const auto generation, IntParameter(request, "generation"));
  if (generation) {
    ASSIGN_OR_RETURN(const ObjectInfo info,
                     api.store.GetObject(path.At("bucket"), path.At("object")));
    RETURN_IF_ERROR(CheckGeneration(request, "generation", info));
    // Never another one, even if it comes between this look and the deletion.
    if (!preconditions.if_generation_match) preconditions.if_generation_match = generation;
  }
  RETURN_IF_ERROR(api.store.DeleteObject(path.At("bucket"), path.At("object"), preconditions));
  return NoContent();
}

}  // namespace caip::gcs
