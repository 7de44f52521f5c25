#include "fakes/gcs/xml/object_headers.h"

#include <ctime>

#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/xml/xml_error.h"

namespace caip::gcs {
namespace {

using http::Request;
using http::Response;

constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct TextHeader {
  const char* header;
  const char* field;
};
constexpr TextHeader kTexts[] = {{"Content-Type", "contentType"},
                                 {"Content-Encoding", "contentEncoding"},
                                 {"Content-Disposition", "contentDisposition"},
                                 {"Content-Language", "contentLanguage"},
                                 {"Cache-Control", "cacheControl"}};

Instant UpdatedOf(const Json& object) {
  return ParseRfc3339(StringOr(object, "updated")).value_or(Instant());
}

bool HasTag(std::string_view list, const std::string& etag) {
  if (Trim(list) == "*") return true;
  for (const std::string& part : Split(list, ',')) {
    std::string_view tag = Trim(part);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag || "\"" + std::string(tag) + "\"" == etag) return true;
  }
  return false;
}

}  // namespace

std::string HttpDate(Instant instant) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(instant.time_since_epoch()).count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[parts.tm_wday],
                parts.tm_mday, kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour,
                parts.tm_min, parts.tm_sec);
  return text;
}

std::optional<Instant> ParseHttpDate(std::string_view text) {
  char month[4] = {};
  int day = 0;
  int year = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d", &day, month, &year, &hour, &minute,
                  &second) != 6) {
    return std::nullopt;
  }
  for (int i = 0; i < 12; ++i) {
    if (std::string_view(month) != kMonths[i]) continue;
    char spelled[32];
    std::snprintf(spelled, sizeof spelled, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, i + 1, day, hour,
                  minute, second);
    return ParseRfc3339(spelled);
  }
  return std::nullopt;
}

std::string XmlEtag(const Json& object) {
  const auto md5 = FromBase64(StringOr(object, "md5Hash"));
  const bool has_md5 = md5 && md5->size() == 16;
  return '"' + (has_md5 ? Hex(*md5) : "-" + StringOr(object, "etag")) + '"';
}

std::string Extension(const Request& request, const std::string& name) {
  const std::string goog = "x-goog-" + name;
  return std::string(request.headers.Get(request.headers.Has(goog) ? goog : "x-amz-" + name));
}

void AddWriteHeaders(const Json& object, http::Headers* headers) {
  headers->Set("ETag", XmlEtag(object));
  std::string hashes = "crc32c=" + StringOr(object, "crc32c");
  if (const std::string md5 = StringOr(object, "md5Hash"); !md5.empty()) hashes += ",md5=" + md5;
  const std::string encoding = StringOr(object, "contentEncoding");
  headers->Set("x-goog-hash", hashes);
  headers->Set("x-goog-generation", StringOr(object, "generation"));
  headers->Set("x-goog-metageneration", StringOr(object, "metageneration"));
  headers->Set("x-goog-stored-content-encoding", encoding.empty() ? "identity" : encoding);
  headers->Set("x-goog-stored-content-length", StringOr(object, "size"));
  if (const long long parts = IntOr(object, "componentCount", 0); parts > 0) {
    headers->Set("x-goog-component-count", std::to_string(parts));
  }
}

void AddObjectHeaders(const Json& object, http::Headers* headers) {
  for (const TextHeader& text : kTexts) {
    if (const std::string value = StringOr(object, text.field); !value.empty()) {
      headers->Set(text.header, value);
    }
  }
  AddWriteHeaders(object, headers);
  headers->Set("Last-Modified", HttpDate(UpdatedOf(object)));
  headers->Set("Accept-Ranges", "bytes");
  headers->Set("x-goog-storage-class", StringOr(object, "storageClass"));
  if (const std::string time = StringOr(object, "customTime"); !time.empty()) {
    headers->Set("x-goog-custom-time", time);
  }
  const Json* metadata = Member(object, "metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  for (const auto& [key, value] : metadata->items()) {
    if (value.is_string()) headers->Set("x-goog-meta-" + key, value.get<std::string>());
  }
}

Json MetadataOf(const Request& request) {
  Json object = Json::object();
  for (const TextHeader& text : kTexts) {
    std::string value(request.headers.Get(text.header));
    if (text.field == std::string_view("contentEncoding") && value == "aws-chunked") continue;
    if (!value.empty()) object[text.field] = std::move(value);
  }
  if (const std::string time = Extension(request, "custom-time"); !time.empty()) {
    object["customTime"] = time;
  }
  if (const std::string kind = Extension(request, "storage-class"); !kind.empty()) {
    object["storageClass"] = UpperCase(kind);
  }
  Json metadata = Json::object();
  for (const auto& [field, value] : request.headers.all()) {
    const std::string name = LowerCase(field);
    for (const std::string_view prefix : {"x-goog-meta-", "x-amz-meta-"}) {
      if (name.starts_with(prefix)) metadata[name.substr(prefix.size())] = value;
    }
  }
  if (!metadata.empty()) object["metadata"] = std::move(metadata);
  return object;
}

std::string SumsOf(const Request& request) {
  std::vector<std::string> sums;
  for (const auto& [field, value] : request.headers.all()) {
    if (LowerCase(field) == "x-goog-hash") sums.emplace_back(value);
  }
  if (const std::string_view md5 = request.headers.Get("Content-MD5"); !md5.empty()) {
    sums.push_back("md5=" + std::string(md5));
  }
  return Join(sums, ",");
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

QueryList PreconditionQuery(const Request& request) {
  QueryList query;
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"x-goog-if-generation-match", "ifGenerationMatch"},
      {"x-goog-if-metageneration-match", "ifMetagenerationMatch"}};
  for (const auto& [header, parameter] : kNames) {
    if (request.headers.Has(header)) query.emplace_back(parameter, request.headers.Get(header));
  }
  return query;
}

std::optional<Response> CheckReadConditions(const Request& request, const Json& object) {
  const http::Headers& headers = request.headers;
  const std::string etag = XmlEtag(object);
  const Instant updated = std::chrono::floor<std::chrono::seconds>(UpdatedOf(object));
  const auto not_modified = [&] {
    Response response;
    response.status = 304;
    response.headers.Add("ETag", etag);
    return response;
  };
  if (headers.Has("If-Match") && !HasTag(headers.Get("If-Match"), etag)) {
    return ToResponse(xml_errors::PreconditionFailed("If-Match"));
  }
  const auto unmodified_since = ParseHttpDate(headers.Get("If-Unmodified-Since"));
  if (!headers.Has("If-Match") && unmodified_since && updated > *unmodified_since) {
    return ToResponse(xml_errors::PreconditionFailed("If-Unmodified-Since"));
  }
  if (headers.Has("If-None-Match")) {
    if (HasTag(headers.Get("If-None-Match"), etag)) return not_modified();
    return std::nullopt;  // it decides alone (RFC 9110, 13.2.2)
  }
  const auto modified_since = ParseHttpDate(headers.Get("If-Modified-Since"));
  if (modified_since && updated <= *modified_since) return not_modified();
  return std::nullopt;
}

}  // namespace caip::gcs
