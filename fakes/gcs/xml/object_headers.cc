#include "fakes/gcs/xml/object_headers.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/calendar_time.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/xml_errors.h"

namespace caip::gcs {
namespace {

using http::Request;
using http::Response;

struct TextHeader {
  const char* header;
  std::string ObjectInfo::*member;
};
constexpr TextHeader kTextHeaders[] = {{"Content-Type", &ObjectInfo::content_type},
                                       {"Content-Encoding", &ObjectInfo::content_encoding},
                                       {"Content-Disposition", &ObjectInfo::content_disposition},
                                       {"Content-Language", &ObjectInfo::content_language},
                                       {"Cache-Control", &ObjectInfo::cache_control}};

bool ListsTag(std::string_view list, const std::string& etag) {
  if (Trim(list) == "*") return true;
  for (const std::string& part : Split(list, ',')) {
    std::string_view tag = Trim(part);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag || "\"" + std::string(tag) + "\"" == etag) return true;
  }
  return false;
}

// Replaces invalid UTF-8, because metadata is stored as JSON.
std::string AsUtf8(std::string_view text) {
  if (IsUtf8(text)) return std::string(text);
  return ParseJson(CompactJson(Json(text)))->get<std::string>();
}

std::string_view Coding(const ObjectInfo& object) {
  return object.content_encoding.empty() ? std::string_view("identity") : object.content_encoding;
}

}  // namespace

std::string XmlEtag(const ObjectInfo& object) {
  const bool shows_md5 = object.md5.size() == 16 && object.customer_key_sha256.empty();
  return '"' + (shows_md5 ? Hex(object.md5) : "-" + EtagOf(object)) + '"';
}

std::string Extension(const Request& request, const std::string& name) {
  const std::string goog = "x-goog-" + name;
  return std::string(request.headers.Get(request.headers.Has(goog) ? goog : "x-amz-" + name));
}

namespace {

// The headers of every response that describes an object.
void AddVersionHeaders(const ObjectInfo& object, http::Headers* headers) {
  headers->Set("ETag", XmlEtag(object));
  headers->Set("x-goog-generation", std::to_string(object.generation));
  headers->Set("x-goog-metageneration", std::to_string(object.metageneration));
  headers->Set("x-goog-stored-content-encoding", std::string(Coding(object)));
  headers->Set("x-goog-stored-content-length", std::to_string(object.size));
  if (object.component_count > 0) {
    headers->Set("x-goog-component-count", std::to_string(object.component_count));
  }
}

}  // namespace

void AddWriteHeaders(const ObjectInfo& object, http::Headers* headers) {
  AddVersionHeaders(object, headers);
  std::string hashes = "crc32c=" + Crc32cText(object.crc32c);
  if (!object.md5.empty()) hashes += ",md5=" + Base64(object.md5);
  headers->Set("x-goog-hash", hashes);
}

void AddObjectHeaders(const ObjectInfo& object, http::Headers* headers, bool with_sums) {
  for (const TextHeader& text : kTextHeaders) {
    const std::string& value = object.*text.member;
    if (!value.empty()) headers->Set(text.header, value);
  }
  with_sums ? AddWriteHeaders(object, headers) : AddVersionHeaders(object, headers);
  headers->Set("Last-Modified", HttpDate(object.updated));
  headers->Set("Accept-Ranges", "bytes");
  headers->Set("x-goog-storage-class", object.storage_class);
  if (!object.custom_time.empty()) {
    headers->Set("x-goog-custom-time", NormalTimeText(object.custom_time));
  }
  for (const auto& [key, value] : object.metadata) {
    if (http::IsFieldName(key)) headers->Set("x-goog-meta-" + key, value);
  }
}

void ApplyMetadataHeaders(const Request& request, ObjectInfo* object) {
  for (const TextHeader& text : kTextHeaders) {
    const std::string value(request.headers.Get(text.header));
    const bool chunked = value == "aws-chunked" && text.member == &ObjectInfo::content_encoding;
    if (!value.empty() && !chunked) object->*text.member = AsUtf8(value);
  }
  const std::string time = Extension(request, "custom-time");
  if (!time.empty()) object->custom_time = NormalTimeText(AsUtf8(time));
  const std::string kind = Extension(request, "storage-class");
  if (!kind.empty()) object->storage_class = AsUtf8(UpperCase(kind));
  for (const auto& [field, value] : request.headers.all()) {
    const std::string name = LowerCase(field);
    for (const std::string_view prefix : {"x-goog-meta-", "x-amz-meta-"}) {
      if (name.starts_with(prefix)) object->metadata[name.substr(prefix.size())] = AsUtf8(value);
    }
  }
}

std::string CannedAcl(std::string_view canned) {
  std::string camel;
  bool upper = false;
  for (const char c : canned) {
    if (c == '-') {
      upper = true;
    } else {
      camel += upper ? UpperCase(std::string_view(&c, 1)) : std::string(1, c);
      upper = false;
    }
  }
  return camel;
}

Status ApplyCannedAcl(const std::string& canned, ObjectInfo* object) {
  if (canned.empty()) return Ok{};
  ASSIGN_OR_RETURN(const AccessEntries entries,
                   PredefinedEntries(CannedAcl(canned), AccessListKind::kObject));
  SetObjectEntries(entries, object);
  return Ok{};
}

Result<Preconditions> PreconditionHeaders(const Request& request) {
  Preconditions conditions;
  ASSIGN_OR_RETURN(
      conditions.if_generation_match,
      ParseInt("ifGenerationMatch", request.headers.Get("x-goog-if-generation-match")));
  ASSIGN_OR_RETURN(
      conditions.if_metageneration_match,
      ParseInt("ifMetagenerationMatch", request.headers.Get("x-goog-if-metageneration-match")));
  return conditions;
}

Result<Version> VersionInQuery(const Request& request) {
  const char* name = request.Query("generation").empty() ? "versionId" : "generation";
  ASSIGN_OR_RETURN(const auto generation, ParseGeneration("generation", request.Query(name)));
  return Version{.generation = generation.value_or(0)};
}

Result<std::optional<Response>> CheckMatchHeaders(const Request& request,
                                                  const ObjectInfo& object) {
  const http::Headers& headers = request.headers;
  const std::string etag = XmlEtag(object);
  const Instant updated = std::chrono::floor<std::chrono::seconds>(object.updated);
  Response not_modified;
  not_modified.status = 304;
  not_modified.headers.Add("ETag", etag);
  if (headers.Has("If-Match") && !ListsTag(headers.Get("If-Match"), etag)) {
    return xml_errors::PreconditionFailed("If-Match");
  }
  const auto unmodified_since = ParseHttpDate(headers.Get("If-Unmodified-Since"));
  if (!headers.Has("If-Match") && unmodified_since && updated > *unmodified_since) {
    return xml_errors::PreconditionFailed("If-Unmodified-Since");
  }
  if (headers.Has("If-None-Match")) {  // If-Modified-Since is then ignored (RFC 9110, 13.2.2)
    if (!ListsTag(headers.Get("If-None-Match"), etag)) return std::optional<Response>();
    return std::optional<Response>(std::move(not_modified));
  }
  const auto modified_since = ParseHttpDate(headers.Get("If-Modified-Since"));
  if (!modified_since || updated > *modified_since) return std::optional<Response>();
  return std::optional<Response>(std::move(not_modified));
}

}  // namespace caip::gcs
