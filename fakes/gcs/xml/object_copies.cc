// PUT with x-goog-copy-source: a rewrite, repeated until it is done.
#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

// "/bucket/object" or "bucket/object", %-encoded, maybe with ?generation=.
struct Source {
  Place place;
  std::string generation;
};

std::optional<Source> SourceOf(const http::Request& request) {
  std::string text = Extension(request, "copy-source");
  Source source;
  source.generation = Extension(request, "copy-source-generation");
  for (const std::string mark : {"?generation=", "?versionId="}) {
    if (const size_t at = text.find(mark); at != std::string::npos) {
      source.generation = text.substr(at + mark.size());
      text.resize(at);
    }
  }
  const auto decoded = PercentDecoded(text);
  if (!decoded) return std::nullopt;
  const std::string_view path =
      std::string_view(*decoded).substr(decoded->starts_with('/') ? 1 : 0);
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == path.size()) {
    return std::nullopt;
  }
  source.place.bucket = std::string(path.substr(0, slash));
  source.place.object = std::string(path.substr(slash + 1));
  return source;
}

// x-goog-copy-source-if-match and so on, as the headers of a read of the source.
std::optional<http::Response> CheckSource(const http::Request& request, const Json& source) {
  http::Request read;
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"copy-source-if-match", "If-Match"},
      {"copy-source-if-none-match", "If-None-Match"},
      {"copy-source-if-modified-since", "If-Modified-Since"},
      {"copy-source-if-unmodified-since", "If-Unmodified-Since"}};
  for (const auto& [extension, header] : kNames) {
    if (std::string value = Extension(request, extension); !value.empty()) {
      read.headers.Set(header, std::move(value));
    }
  }
  const auto refused = CheckReadConditions(read, source);
  if (!refused) return std::nullopt;
  return ToResponse(xml_errors::PreconditionFailed("a condition on the source of the copy"));
}

// The resource of the copy: nothing keeps the source's, REPLACE names every field anew.
Json Replacement(const http::Request& request, const Json& source) {
  Json fresh = MetadataOf(request);
  for (const char* field : {"contentType", "contentEncoding", "contentDisposition",
                            "contentLanguage", "cacheControl"}) {
    if (Member(source, field) && !Member(fresh, field)) fresh[field] = nullptr;
  }
  Json metadata = Json::object();
  if (const Json* old = Member(source, "metadata"); old && old->is_object()) {
    for (const auto& [key, value] : old->items()) metadata[key] = nullptr;
  }
  if (const Json* asked = Member(fresh, "metadata")) metadata.update(*asked);
  if (!metadata.empty()) fresh["metadata"] = std::move(metadata);
  return fresh;
}

}  // namespace

http::Response CopyObjectXml(const XmlCall& call) {
  const auto source = SourceOf(call.request);
  if (!source) {
    return ToResponse(xml_errors::InvalidArgument("x-goog-copy-source must be /bucket/object"));
  }
  QueryList read;
  if (!source->generation.empty()) read.emplace_back("generation", source->generation);
  const JsonAnswer found = call.Json("GET", ObjectPath(source->place), std::move(read));
  if (!found.ok()) {
    return FailureOf(call.services.storage, call.request, source->place, found.response);
  }
  if (auto refused = CheckSource(call.request, found.json)) return std::move(*refused);
  QueryList query = PreconditionQuery(call.request);
  query.emplace_back("sourceGeneration", StringOr(found.json, "generation"));
  for (const char* kind : {"generation", "metageneration"}) {
    const std::string wanted =
        Extension(call.request, std::string("copy-source-if-") + kind + "-match");
    const std::string name =
        kind == std::string_view("generation") ? "Generation" : "Metageneration";
    if (!wanted.empty()) query.emplace_back("ifSource" + name + "Match", wanted);
  }
  if (const std::string acl = Extension(call.request, "acl"); !acl.empty()) {
    query.emplace_back("destinationPredefinedAcl", CannedAcl(acl));
  }
  const bool replaces = UpperCase(Extension(call.request, "metadata-directive")) == "REPLACE";
  Json resource = replaces ? Replacement(call.request, found.json) : Json::object();
  if (const std::string kind = Extension(call.request, "storage-class"); !kind.empty()) {
    resource["storageClass"] = UpperCase(kind);
  }
  const std::string path = ObjectPath(source->place) + "/rewriteTo/b/" +
                           PercentEncoded(call.place.bucket) + "/o/" +
                           PercentEncoded(call.place.object);
  JsonAnswer step;
  for (std::string token;;) {
    QueryList more = query;
    if (!token.empty()) more.emplace_back("rewriteToken", token);
    step = call.Json("POST", path, std::move(more), resource.empty() ? Json() : resource);
    if (!step.ok()) return call.Failure(step.response);
    token = StringOr(step.json, "rewriteToken");
    const Json* done = Member(step.json, "done");
    if (token.empty() || (done && *done == true)) break;
  }
  const Json* made = Member(step.json, "resource");
  if (made == nullptr) return ToResponse(xml_errors::Internal("the copy tells no object"));
  XmlElement root = XmlRoot("CopyObjectResult");
  root.Add("LastModified", StringOr(*made, "updated"));
  root.Add("ETag", XmlEtag(*made));
  http::Response response = XmlResponse(root);
  AddWriteHeaders(*made, &response.headers);
  response.headers.Set("x-goog-copy-source-generation", StringOr(found.json, "generation"));
  return response;
}

}  // namespace caip::gcs
