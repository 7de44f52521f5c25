// PUT with x-goog-copy-source.
#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

// "/bucket/object" or "bucket/object", %-encoded, maybe with ?generation=.
struct CopySource {
  ObjectName object;
  std::string generation;
};

std::optional<CopySource> CopySourceOf(const http::Request& request) {
  std::string text = Extension(request, "copy-source");
  CopySource source;
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
  source.object.bucket = std::string(path.substr(0, slash));
  source.object.name = std::string(path.substr(slash + 1));
  return source;
}

// x-goog-copy-source-if-match and so on, as the headers of a read of the source.
Status CheckSource(const http::Request& request, const ObjectInfo& source) {
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
  const auto refused = CheckMatchHeaders(read, source);
  if (refused.ok() && !*refused) return Ok{};
  return xml_errors::PreconditionFailed("a condition on the source of the copy");
}

// With REPLACE the headers name all metadata, and none of the source's is kept.
void ApplyDirective(const http::Request& request, ObjectInfo* copy) {
  const std::string kind = Extension(request, "storage-class");
  if (UpperCase(Extension(request, "metadata-directive")) != "REPLACE") {
    if (!kind.empty()) copy->storage_class = UpperCase(kind);
    return;
  }
  for (std::string ObjectInfo::*field :
       {&ObjectInfo::content_type, &ObjectInfo::content_encoding, &ObjectInfo::content_disposition,
        &ObjectInfo::content_language, &ObjectInfo::cache_control}) {
    (copy->*field).clear();
  }
  copy->metadata.clear();
  ApplyMetadataHeaders(request, copy);
}

Result<CopyRequest> CopyRequestOf(const XmlCall& call, const CopySource& source,
                                  int64_t generation) {
  const http::Request& request = call.request;
  CopyRequest copy;
  copy.source = source.object;
  copy.version = {.generation = generation};
  copy.target = call.object();
  ASSIGN_OR_RETURN(copy.of_target, PreconditionHeaders(request));
  ASSIGN_OR_RETURN(
      copy.of_source.if_generation_match,
      ParseInt("ifSourceGenerationMatch", Extension(request, "copy-source-if-generation-match")));
  ASSIGN_OR_RETURN(copy.of_source.if_metageneration_match,
                   ParseInt("ifSourceMetagenerationMatch",
                            Extension(request, "copy-source-if-metageneration-match")));
  ASSIGN_OR_RETURN(const std::string key, KeyShown(request));
  copy.change = [&request, key](ObjectInfo* info) -> Status {
    ApplyDirective(request, info);
    info->customer_key_sha256 = key;
    return ApplyCannedAcl(Extension(request, "acl"), info);
  };
  return copy;
}

}  // namespace

Result<http::Response> CopyObjectXml(const XmlCall& call) {
  const auto source = CopySourceOf(call.request);
  if (!source) return xml_errors::InvalidArgument("x-goog-copy-source must be /bucket/object");
  ASSIGN_OR_RETURN(const auto generation, ParseGeneration("generation", source->generation));
  RETURN_IF_ERROR(call.Meet("storage.objects.get"));
  ASSIGN_OR_RETURN(
      const ObjectInfo found,
      call.storage().GetObject(source->object, {.generation = generation.value_or(0)}));
  RETURN_IF_ERROR(CheckSource(call.request, found));
  ASSIGN_OR_RETURN(const CopyRequest copy, CopyRequestOf(call, *source, found.generation));
  RETURN_IF_ERROR(call.Meet("storage.objects.rewrite"));
  ASSIGN_OR_RETURN(const ObjectInfo made, call.storage().Copy(copy));
  XmlElement root = XmlRoot("CopyObjectResult");
  root.Add("LastModified", Rfc3339(made.updated, 3));
  root.Add("ETag", XmlEtag(made));
  http::Response response = XmlResponse(root);
  AddWriteHeaders(made, &response.headers);
  response.headers.Set("x-goog-copy-source-generation", std::to_string(found.generation));
  return response;
}

}  // namespace caip::gcs
