// Methods that list, read, change, delete, move and restore objects.
#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/calendar_time.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/json/resources.h"
#include "fakes/gcs/service/object_fields.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/object_record.h"
#include "fakes/gcs/wire/object_content.h"
#include "fakes/gcs/wire/request_headers.h"

namespace caip::gcs {
namespace {

constexpr int64_t kObjectPageMax = 1000;

// True if the client wants checksums. Only then are those of files that were added by hand
// computed.
bool WantsHashes(const Request& request) {
  const std::string_view fields = request.Query("fields");
  for (std::string_view name : {"md5Hash", "crc32c", "*"}) {
    if (fields.find(name) != std::string_view::npos) return true;
  }
  const bool whole_items = fields.ends_with("items") || fields.find("items,") != std::string::npos;
  return fields.empty() || whole_items;
}

Status CheckListQuery(const Request& request, const ListQuery& query) {
  if (request.HasQuery("filter")) {
    return errors::NotImplemented("objects.list's parameter 'filter'");
  }
  if (const auto problem = Glob::Problem(query.match_glob)) {
    return errors::ParameterInvalid("matchGlob", query.match_glob, *problem);
  }
  if (query.versions && query.soft_deleted) {
    return errors::ParameterInvalid("softDeleted", "true", "versions=true forbids it");
  }
  return Ok{};
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
  query.match_glob = std::string(request.Query("matchGlob"));
  query.versions = IsTrue(request.Query("versions"));
  query.soft_deleted = IsTrue(request.Query("softDeleted"));
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, "maxResults"));
  if (wanted && *wanted < 0) {
    return errors::ParameterInvalid("maxResults", request.Query("maxResults"),
                                    "expected a number from 1 to 1000");
  }
  if (wanted) query.max_results = static_cast<int>(std::min(*wanted, kObjectPageMax));
  RETURN_IF_ERROR(CheckListQuery(request, query));
  return query;
}

// True if the value of If-Match or If-None-Match contains the etag, quoted or as in the resource.
bool NamesTag(std::string_view header, const std::string& etag) {
  for (const std::string& item : Split(header, ',')) {
    std::string_view tag = Trim(item);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag.size() > 1 && tag.starts_with('"') && tag.ends_with('"')) {
      tag = tag.substr(1, tag.size() - 2);
    }
    if (tag == etag || tag == "*") return true;
  }
  return false;
}

// Checks the preconditions of a read. Returns an error for 412, a response for 304.
Result<std::optional<Response>> CheckReadConditions(const Request& request,
                                                    const ObjectInfo& info) {
  ASSIGN_OR_RETURN(Preconditions asked, PreconditionsOf(request));
  Preconditions must_match;
  must_match.if_generation_match = std::exchange(asked.if_generation_match, std::nullopt);
  must_match.if_metageneration_match = std::exchange(asked.if_metageneration_match, std::nullopt);
  RETURN_IF_ERROR(CheckPreconditions(must_match, &info));
  const std::string_view if_match = request.headers.Get("If-Match");
  const bool has_tags = !if_match.empty() || request.headers.Has("If-None-Match");
  if (!has_tags && CheckPreconditions(asked, &info).ok()) return std::optional<Response>();
  const std::string etag = EtagOf(info);
  if (!if_match.empty() && !NamesTag(if_match, etag)) return errors::EtagChanged();
  const bool client_has_it = NamesTag(request.headers.Get("If-None-Match"), etag);
  if (!client_has_it && CheckPreconditions(asked, &info).ok()) return std::optional<Response>();
  return std::optional<Response>(NotModified(etag));
}

void AddDownloadHeaders(const ObjectInfo& info, http::Headers* headers) {
  const auto add_if = [&](const char* name, const std::string& value) {
    if (!value.empty()) headers->Add(name, value);
  };
  headers->Add("Content-Type",
               info.content_type.empty() ? "application/octet-stream" : info.content_type);
  add_if("Content-Disposition", info.content_disposition);
  add_if("Content-Language", info.content_language);
  add_if("Cache-Control", info.cache_control);
  headers->Add("ETag", EtagOf(info));
  add_if("x-goog-encryption-key-sha256", info.customer_key_sha256);
  if (!info.customer_key_sha256.empty()) headers->Add("x-goog-encryption-algorithm", "AES256");
  headers->Add("Last-Modified", HttpDate(info.updated));
  std::string hashes = "crc32c=" + Crc32cText(info.crc32c);
  if (!info.md5.empty()) hashes += ",md5=" + Base64(info.md5);
  headers->Add("x-goog-hash", hashes);
  headers->Add("x-goog-generation", std::to_string(info.generation));
  headers->Add("x-goog-metageneration", std::to_string(info.metageneration));
  headers->Add("x-goog-storage-class", info.storage_class);
  headers->Add("x-goog-stored-content-encoding",
               info.content_encoding.empty() ? "identity" : info.content_encoding);
  headers->Add("x-goog-stored-content-length", std::to_string(info.size));
  if (info.component_count > 0) {
    headers->Add("x-goog-component-count", std::to_string(info.component_count));
  }
}

Response DownloadResponse(const Request& request, const std::shared_ptr<ObjectReader>& reader) {
  const ObjectInfo& info = reader->info();
  const ObjectContent content = ChooseContent(request, *reader);
  Response response;
  if (content.kind == ObjectContent::Kind::kUnsatisfiable) {
    response = errors::ToResponse(errors::RangeNotSatisfiable(info.size));
  } else {
    AddDownloadHeaders(info, &response.headers);
    const bool packed = content.kind != ObjectContent::Kind::kUnpacked;
    if (packed && !info.content_encoding.empty()) {
      response.headers.Add("Content-Encoding", info.content_encoding);
    }
  }
  AddContent(request, reader, content, &response);
  return response;
}

Status ApplyObjectChange(const Request& request, const Json& resource, ObjectInfo* info) {
  RETURN_IF_ERROR(ApplyObjectFields(resource, info));
  if (!request.HasQuery("predefinedAcl")) return Ok{};
  ASSIGN_OR_RETURN(const AccessEntries entries,
                   PredefinedEntries(request.Query("predefinedAcl"), AccessListKind::kObject));
  SetObjectEntries(entries, info);
  return Ok{};
}

// A PUT clears every field that it does not name, except the KMS key and customTime, which cannot
// be removed.
void ClearObjectFields(ObjectInfo* info) {
  const ObjectInfo fresh;
  for (const TextField& field : kTextFields) {
    const std::string_view name = field.name;
    const bool stays = name == "kmsKeyName" || name == "customTime";
    if (!stays) info->*field.member = fresh.*field.member;
  }
  for (const FlagField& flag : kFlagFields) flag.Set(std::nullopt, info);
  info->contexts.clear();
  info->metadata.clear();
}

Result<Response> ChangeByRequest(StorageService& service, const Request& request,
                                 const PathParameters& path, const ObjectChange& change) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   service.ChangeObject(ObjectAt(path), version, conditions, change,
                                        IsTrue(request.Query("overrideUnlockedRetention"))));
  return Rendered(WithoutSecretSums(RenderedObject(service, request, info), request, info));
}

Result<BulkRestore> BulkRestoreOf(const Json& body) {
  ASSIGN_OR_RETURN(const Json read, ReadResource(body, resource_fields::kBulkRestore));
  BulkRestore wanted;
  if (const Json* globs = Member(read, "matchGlobs"); globs && globs->is_array()) {
    for (const Json& glob : *globs) {
      const std::string text = glob.get<std::string>();
      if (const auto problem = Glob::Problem(text)) {
        return errors::FieldInvalid("matchGlobs", *problem);
      }
      wanted.globs.emplace_back(text);
    }
  }
  for (const auto& [name, into] : {std::pair("softDeletedAfterTime", &wanted.deleted_after),
                                   std::pair("softDeletedBeforeTime", &wanted.deleted_before)}) {
    if (const auto time = ParseCalendarTime(StringOr(read, name))) *into = NearestInstant(*time);
  }
  wanted.overwrite = caip::IsTrue(read, "allowOverwrite");
  wanted.with_acl = caip::IsTrue(read, "copySourceAcl");
  return wanted;
}

}  // namespace

// GET /b/{bucket}/o
Result<Response> ListObjects(StorageService& service, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const ListQuery query, ListQueryOf(request));
  // "Only applicable if delimiter is set to '/'" (the method's discovery document).
  const bool with_folders =
      IsTrue(request.Query("includeFoldersAsPrefixes")) && query.delimiter == "/";
  ASSIGN_OR_RETURN(const auto page, service.ListObjects(path.At("bucket"), query, with_folders));
  Json json = {{"kind", "storage#objects"}};
  const Listing& listing = page.listing;
  if (!listing.next_page_token.empty()) json["nextPageToken"] = listing.next_page_token;
  if (!listing.prefixes.empty()) json["prefixes"] = listing.prefixes;
  const BucketRules rules = RulesOf(page.bucket);
  for (const ObjectInfo& info : listing.items) {
    json["items"].push_back(
        WithoutSecretSums(RenderedObject(page.bucket, rules, request, info), request, info));
  }
  return Rendered(json);
}

// GET /b/{bucket}/o/{object}
Result<Response> GetObject(StorageService& service, const Request& request,
                           const PathParameters& path) {
  if (request.Query("alt") == "media") return DownloadObject(service, request, path);
  ASSIGN_OR_RETURN(const Version version, ShownVersionOf(request));
  ASSIGN_OR_RETURN(const ObjectInfo info, service.GetObject(ObjectAt(path), version));
  ASSIGN_OR_RETURN(auto not_modified, CheckReadConditions(request, info));
  if (not_modified) return std::move(*not_modified);
  Response response =
      Rendered(WithoutSecretSums(RenderedObject(service, request, info), request, info));
  response.headers.Add("ETag", EtagOf(info));
  return response;
}

// GET /download/.../o/{object} and GET .../o/{object}?alt=media
Result<Response> DownloadObject(StorageService& service, const Request& request,
                                const PathParameters& path) {
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  ASSIGN_OR_RETURN(const auto reader, service.OpenObject(ObjectAt(path), version));
  ASSIGN_OR_RETURN(auto not_modified, CheckReadConditions(request, reader->info()));
  if (not_modified) return std::move(*not_modified);
  ASSIGN_OR_RETURN(const std::string key, CustomerKeySha256(request));
  RETURN_IF_ERROR(CheckKey(reader->info(), key));
  return DownloadResponse(request, reader);
}

// PATCH /b/{bucket}/o/{object}: fields that the body does not name are kept.
Result<Response> PatchObject(StorageService& service, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  return ChangeByRequest(service, request, path, [&](ObjectInfo* changed) {
    return ApplyObjectChange(request, resource, changed);
  });
}

// PUT /b/{bucket}/o/{object}: fields that the body does not name are cleared.
Result<Response> UpdateObject(StorageService& service, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  return ChangeByRequest(service, request, path, [&](ObjectInfo* changed) {
    ClearObjectFields(changed);
    return ApplyObjectChange(request, resource, changed);
  });
}

// DELETE /b/{bucket}/o/{object}
Result<Response> DeleteObject(StorageService& service, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  RETURN_IF_ERROR(service.DeleteObject(ObjectAt(path), version, conditions));
  return NoContent();
}

// POST /b/{bucket}/o/{object}/moveTo/o/{toObject}
Result<Response> MoveObject(StorageService& service, const Request& request,
                            const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions of_target, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Preconditions of_source, PreconditionsOf(request, "ifSource"));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   service.MoveObject(ObjectAt(path), path.At("toObject"), of_source, of_target));
  return Rendered(WithoutSecretSums(RenderedObject(service, request, info), request, info));
}

// POST /b/{bucket}/o/{object}/restore
Result<Response> RestoreObject(StorageService& service, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const auto generation, IntParameter(request, "generation"));
  if (!generation) return errors::Required("generation");
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const ObjectInfo info, service.Restore(ObjectAt(path), *generation, conditions,
                                                          IsTrue(request.Query("copySourceAcl"))));
  return Rendered(WithoutSecretSums(RenderedObject(service, request, info), request, info));
}

// POST /b/{bucket}/o/bulkRestore. The restore ends before the response is sent, so the operation is
// already done.
Result<Response> BulkRestoreObjects(StorageService& service, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  ASSIGN_OR_RETURN(const BulkRestore wanted, BulkRestoreOf(body));
  const std::string& bucket = path.At("bucket");
  ASSIGN_OR_RETURN(const BulkRestored done, service.RestoreMany(bucket, wanted));
  return Rendered(Json{{"kind", "storage#operation"},
                       {"name", "projects/_/buckets/" + bucket + "/operations/bulk-restore"},
                       {"done", true},
                       {"metadata",
                        {{"succeededCount", std::to_string(done.restored)},
                         {"skippedCount", std::to_string(done.skipped)}}},
                       {"response", Json::object()}});
}

}  // namespace caip::gcs
