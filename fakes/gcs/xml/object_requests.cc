// Objects: GET, HEAD, PUT, DELETE, ?compose and resumable uploads.

#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/wire/object_content.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/document_checks.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/upload_bounds.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr int kReadTriesMax = 3;
constexpr const char* kDefaultType = "application/octet-stream";

// Applies response-content-type=..., response-cache-control=... and so on, which a signed URL may
// have.
void OverrideHeaders(const http::Request& request, http::Headers* headers) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"response-content-type", "Content-Type"},
      {"response-content-disposition", "Content-Disposition"},
      {"response-content-language", "Content-Language"},
      {"response-content-encoding", "Content-Encoding"},
      {"response-cache-control", "Cache-Control"},
      {"response-expires", "Expires"}};
  for (const auto& [parameter, header] : kNames) {
    if (request.HasQuery(parameter)) headers->Set(header, std::string(request.Query(parameter)));
  }
}

// Finds the object of a read and checks the conditions. Returns a 304 response if the client has
// this version already.
Result<std::optional<http::Response>> FindForRead(const XmlCall& call, ObjectInfo* object) {
  ASSIGN_OR_RETURN(const Version version, VersionInQuery(call.request));
  RETURN_IF_ERROR(call.InjectFault("storage.objects.get"));
  ASSIGN_OR_RETURN(*object, call.storage().GetObject(call.object(), version));
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionHeaders(call.request));
  RETURN_IF_ERROR(CheckPreconditions(conditions, object));
  return CheckMatchHeaders(call.request, *object);
}

// The checksums of an object with a customer's key are for clients that send the key.
http::Response HeadResponse(const XmlCall& call, const ObjectInfo& object) {
  http::Response response;
  const auto key = CustomerKeySha256(call.request);
  const bool may_see_sums =
      object.customer_key_sha256.empty() || (key.ok() && *key == object.customer_key_sha256);
  AddObjectHeaders(object, &response.headers, may_see_sums);
  response.content_length = static_cast<int64_t>(object.size);
  response.write_body = [](const http::Response::Sink&) {};
  return response;
}

void AddContentHeaders(const ObjectInfo& object, bool unpacked, http::Headers* headers) {
  ObjectInfo shown = object;
  if (unpacked) shown.content_encoding.clear();
  AddObjectHeaders(shown, headers);
  AddWriteHeaders(object, headers);
  if (object.customer_key_sha256.empty()) return;
  headers->Set("x-goog-encryption-key-sha256", object.customer_key_sha256);
  headers->Set("x-goog-encryption-algorithm", "AES256");
}

http::Response ContentResponse(const XmlCall& call, const std::shared_ptr<ObjectReader>& reader) {
  const ObjectInfo& object = reader->info();
  const ObjectContent content = ChooseContent(call.request, *reader);
  http::Response response;
  if (content.kind == ObjectContent::Kind::kUnsatisfiable) {
    response = XmlErrorResponse(errors::RangeNotSatisfiable(object.size), call.place);
  } else {
    const bool unpacked = content.kind == ObjectContent::Kind::kUnpacked;
    AddContentHeaders(object, unpacked, &response.headers);
  }
  AddContent(call.request, reader, content, &response);
  return response;
}

// Sends the bytes of this generation.
Result<http::Response> Download(const XmlCall& call, int64_t generation) {
  ASSIGN_OR_RETURN(const auto reader,
                   call.storage().OpenObject(call.object(), {.generation = generation}));
  ASSIGN_OR_RETURN(const std::string key, CustomerKeySha256(call.request));
  RETURN_IF_ERROR(CheckKey(reader->info(), key));
  return ContentResponse(call, reader);
}

http::Response DownloadOrFault(const XmlCall& call, int64_t generation, bool* missing) {
  const auto render = [&](const Error& error) { return XmlErrorResponse(error, call.place); };
  return call.services.faults.Run("storage.objects.get", call.request, {FaultSite::Kind::kDownload},
                                  render, [&](const http::Request&) {
                                    auto response = Download(call, generation);
                                    if (response.ok()) return std::move(*response);
                                    *missing = response.error().code == Code::kNotFound;
                                    return render(response.error());
                                  });
}

// Reads the conditions and access list of a write: x-goog-if-..., x-goog-acl, and If-Match or
// If-None-Match as generations. Returns a 304 response if the write is refused.
Result<std::optional<http::Response>> ApplyWriteHeaders(const XmlCall& call, ObjectInfo* info,
                                                        Preconditions* conditions) {
  const http::Headers& headers = call.request.headers;
  ASSIGN_OR_RETURN(*conditions, PreconditionHeaders(call.request));
  RETURN_IF_ERROR(ApplyCannedAcl(Extension(call.request, "acl"), info));
  std::optional<int64_t>& generation = conditions->if_generation_match;
  if (Trim(headers.Get("If-None-Match")) == "*") generation = generation.value_or(0);
  if (!headers.Has("If-Match")) return std::optional<http::Response>();
  RETURN_IF_ERROR(call.InjectFault("storage.objects.get"));
  ASSIGN_OR_RETURN(const ObjectInfo live, call.storage().GetObject(call.object()));
  generation = generation.value_or(live.generation);
  return CheckMatchHeaders(call.request, live);
}

// Reads the object that a write creates from its headers.
Result<UploadPlan> PlanOfHeaders(const XmlCall& call) {
  UploadPlan plan;
  plan.info.bucket = call.place.bucket;
  plan.info.name = call.place.object;
  plan.info.content_type = kDefaultType;
  ApplyMetadataHeaders(call.request, &plan.info);
  ASSIGN_OR_RETURN(plan.info.customer_key_sha256, CustomerKeySha256(call.request));
  RETURN_IF_ERROR(AddHeaderSums(call.request, &plan.sums));
  return plan;
}

// A body of individually signed chunks uses a coding of the signing method, not of HTTP.
bool IsSignedInChunks(const http::Request& request) {
  return request.headers.Get("x-amz-content-sha256").starts_with("STREAMING-") ||
         request.headers.Get("x-goog-content-sha256").starts_with("STREAMING-");
}

// <ComposeRequest><Component><Name/><Generation/><IfGenerationMatch/></Component>...
Result<std::vector<ComposeSource>> ComponentsOf(const XmlElement& body) {
  RETURN_IF_ERROR(CheckRoot(body, "ComposeRequest"));
  RETURN_IF_ERROR(CheckChildren(body, {"Component"}));
  std::vector<ComposeSource> sources;
  for (const XmlElement* component : body.All("Component")) {
    RETURN_IF_ERROR(CheckChildren(*component, {"Name", "Generation", "IfGenerationMatch"}));
    ComposeSource source{component->TextOf("Name")};
    ASSIGN_OR_RETURN(const auto generation, ReadNumberOf(*component, "Generation"));
    source.generation = generation.value_or(0);
    ASSIGN_OR_RETURN(source.if_generation_match, ReadNumberOf(*component, "IfGenerationMatch"));
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace

Result<http::Response> ReadObjectXml(const XmlCall& call) {
  for (int tries = 1;; ++tries) {
    ObjectInfo object;
    ASSIGN_OR_RETURN(auto not_modified, FindForRead(call, &object));
    if (not_modified) return std::move(*not_modified);
    bool missing = false;
    http::Response response = call.request.method == "HEAD"
                                  ? HeadResponse(call, object)
                                  : DownloadOrFault(call, object.generation, &missing);
    // The object was overwritten between the two lookups: try again.
    if (missing && !call.request.HasQuery("generation") && tries < kReadTriesMax) continue;
    if (response.status != 200 && response.status != 206) return response;
    if (!response.headers.Has("Content-Type")) response.headers.Set("Content-Type", kDefaultType);
    OverrideHeaders(call.request, &response.headers);
    return response;
  }
}

Result<http::Response> PutObjectXml(const XmlCall& call) {
  if (IsSignedInChunks(call.request)) {
    return xml_errors::NotImplemented("A body signed in chunks (aws-chunked)");
  }
  ASSIGN_OR_RETURN(UploadPlan plan, PlanOfHeaders(call));
  ASSIGN_OR_RETURN(auto refused, ApplyWriteHeaders(call, &plan.info, &plan.preconditions));
  if (refused) return std::move(*refused);
  ASSIGN_OR_RETURN(const UploadBounds bounds, ReadLengthRange(call.request));
  BoundedBody bounded(*call.request.body, bounds);
  return AnswerUpload(call, bounded, 0, [&](http::BodyReader& bytes) -> Result<http::Response> {
    ASSIGN_OR_RETURN(const ObjectInfo made, call.storage().Insert(plan, bytes));
    return WrittenResponse(made);
  });
}

Result<http::Response> DeleteObjectXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionHeaders(call.request));
  ASSIGN_OR_RETURN(const Version version, VersionInQuery(call.request));
  RETURN_IF_ERROR(call.InjectFault("storage.objects.delete"));
  RETURN_IF_ERROR(call.storage().DeleteObject(call.object(), version, conditions));
  return EmptyResponse(204);
}

// PUT ?compose. A Content-Type of XML describes the request's body, not the object.
Result<http::Response> ComposeObjectXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const XmlElement body, XmlBody(call.request));
  ComposeRequest compose;
  compose.target = call.object();
  ASSIGN_OR_RETURN(compose.sources, ComponentsOf(body));
  ApplyMetadataHeaders(call.request, &compose.info);
  if (compose.info.content_type.find("xml") != std::string::npos) compose.info.content_type = "";
  ASSIGN_OR_RETURN(compose.info.customer_key_sha256, CustomerKeySha256(call.request));
  ASSIGN_OR_RETURN(auto refused, ApplyWriteHeaders(call, &compose.info, &compose.preconditions));
  if (refused) return std::move(*refused);
  RETURN_IF_ERROR(call.InjectFault("storage.objects.compose"));
  ASSIGN_OR_RETURN(const ObjectInfo made, call.storage().Compose(std::move(compose)));
  return WrittenResponse(made);
}

namespace {

Result<http::Response> CancelSession(const XmlCall& call) {
  RETURN_IF_ERROR(call.InjectFault("storage.objects.insert"));
  RETURN_IF_ERROR(call.storage().CancelUpload(std::string(call.request.Query("upload_id"))));
  return EmptyResponse(499);  // as in the real service
}

}  // namespace

// POST with x-goog-resumable: start
Result<http::Response> StartSessionXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(UploadPlan plan, PlanOfHeaders(call));
  ASSIGN_OR_RETURN(auto refused, ApplyWriteHeaders(call, &plan.info, &plan.preconditions));
  if (refused) return std::move(*refused);
  plan.length = ParseNumber(call.request.headers.Get("X-Upload-Content-Length"));
  RETURN_IF_ERROR(call.InjectFault("storage.objects.insert"));
  ASSIGN_OR_RETURN(const std::string id, call.storage().StartUpload(plan));
  http::Response response = EmptyResponse(201);
  response.headers.Add("Location",
                       call.request.BaseUrl() + PathOf(call.place) + "?upload_id=" + id);
  response.headers.Add("X-GUploader-UploadID", id);
  return response;
}

// PUT (a piece, or a query of the progress) and DELETE of a session's URL.
Result<http::Response> UseSessionXml(const XmlCall& call) {
  if (call.request.method == "DELETE") return CancelSession(call);
  ASSIGN_OR_RETURN(const UploadPiece piece, ReadUploadPiece(call.request));
  const uint64_t offset = piece.range && piece.range->first ? *piece.range->first : 0;
  const auto store = [&](http::BodyReader& bytes) -> Result<http::Response> {
    ASSIGN_OR_RETURN(const UploadProgress progress, call.storage().ContinueUpload(piece, bytes));
    if (!progress.done) return UploadIncomplete(call.request, progress.received);
    return WrittenResponse(*progress.done);
  };
  return AnswerUpload(call, *call.request.body, offset, store);
}

// Copies: PUT with x-goog-copy-source.

namespace {

// "/bucket/object" or "bucket/object", %-encoded, with an optional ?generation=.
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

// Checks x-goog-copy-source-if-match and so on like the headers of a read of the source.
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

// With REPLACE, the headers give all metadata: no metadata of the source is kept.
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
  ASSIGN_OR_RETURN(const std::string key, CustomerKeySha256(request));
  copy.change = [&request, key](ObjectInfo* info) -> Status {
    ApplyDirective(request, info);
    info->customer_key_sha256 = key;
    return ApplyCannedAcl(Extension(request, "acl"), info);
  };
  return copy;
}

http::Response CopiedResponse(const ObjectInfo& made, int64_t source_generation) {
  XmlElement root = XmlRoot("CopyObjectResult");
  root.Add("LastModified", Rfc3339(made.updated, 3));
  root.Add("ETag", XmlEtag(made));
  http::Response response = XmlResponse(root);
  AddWriteHeaders(made, &response.headers);
  response.headers.Set("x-goog-copy-source-generation", std::to_string(source_generation));
  return response;
}

}  // namespace

Result<http::Response> CopyObjectXml(const XmlCall& call) {
  const auto source = CopySourceOf(call.request);
  if (!source) return xml_errors::InvalidArgument("x-goog-copy-source must be /bucket/object");
  ASSIGN_OR_RETURN(const auto generation, ParseGeneration("generation", source->generation));
  RETURN_IF_ERROR(call.InjectFault("storage.objects.get"));
  ASSIGN_OR_RETURN(
      const ObjectInfo found,
      call.storage().GetObject(source->object, {.generation = generation.value_or(0)}));
  RETURN_IF_ERROR(CheckSource(call.request, found));
  ASSIGN_OR_RETURN(const CopyRequest copy, CopyRequestOf(call, *source, found.generation));
  RETURN_IF_ERROR(call.InjectFault("storage.objects.rewrite"));
  ASSIGN_OR_RETURN(const ObjectInfo made, call.storage().Copy(copy));
  return CopiedResponse(made, found.generation);
}

}  // namespace caip::gcs
