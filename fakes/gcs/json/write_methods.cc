// Methods that write objects: uploads (the bytes alone, a multipart body with resource and bytes,
// or resumable), rewrites, copies and compositions.

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/json/resources.h"
#include "fakes/gcs/service/object_fields.h"
#include "fakes/gcs/wire/multipart.h"
#include "fakes/gcs/wire/request_headers.h"

namespace caip::gcs {
namespace {

constexpr size_t kResourceBytesMax = 2 << 20;

// Reads query, resource (may be null) and headers. `content_type` is that of the bytes.
Result<UploadPlan> PlanUpload(const Request& request, const std::string& bucket,
                              const Json& resource, std::string_view content_type) {
  UploadPlan plan;
  plan.info.content_type = std::string(content_type);
  plan.info.content_encoding = std::string(request.Query("contentEncoding"));
  RETURN_IF_ERROR(ApplyObjectFields(resource, &plan.info));
  if (plan.info.content_type.empty()) plan.info.content_type = std::string(content_type);
  plan.info.bucket = bucket;
  plan.info.name = std::string(request.Query("name"));
  if (plan.info.name.empty()) plan.info.name = StringOr(resource, "name");
  if (plan.info.name.empty()) return errors::NameMissing();
  RETURN_IF_ERROR(ApplyDestination(request, &plan.info));
  ASSIGN_OR_RETURN(plan.preconditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(plan.sums, SumsOf(resource));
  RETURN_IF_ERROR(AddHeaderSums(request, &plan.sums));
  return plan;
}

// The second part of a multipart body, which must be the last one.
class LastPart final : public http::BodyReader {
 public:
  explicit LastPart(MultipartReader& parts) : parts_(parts) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    ASSIGN_OR_RETURN(const size_t count, parts_.Read(buffer, size));
    if (count > 0) return count;
    ASSIGN_OR_RETURN(const bool third, parts_.NextPart());
    if (third) return errors::MultipartInvalid("it has more than two parts");
    return size_t{0};
  }

 private:
  MultipartReader& parts_;
};

// The body is the object's bytes.
Result<Response> InsertMedia(StorageService& service, const Request& request,
                             const std::string& bucket) {
  ASSIGN_OR_RETURN(const UploadPlan plan,
                   PlanUpload(request, bucket, Json(), request.headers.Get("Content-Type")));
  ASSIGN_OR_RETURN(const ObjectInfo info, service.Insert(plan, *request.body));
  return Rendered(RenderedObject(service, request, info));
}

// Reads the first part, and moves to the second.
Result<Json> ReadResourcePart(MultipartReader& parts) {
  ASSIGN_OR_RETURN(const bool first, parts.NextPart());
  if (!first) return errors::MultipartInvalid("it has no parts");
  ASSIGN_OR_RETURN(const std::string text, parts.ReadPart(kResourceBytesMax, "Metadata part"));
  auto resource = ParseJson(text);
  if (!resource.ok()) return errors::BodyInvalid(resource.error().message);
  ASSIGN_OR_RETURN(const bool second, parts.NextPart());
  if (!second) return errors::MultipartInvalid("the part with the object's bytes is missing");
  return resource;
}

// Part 1 is the resource, part 2 the bytes.
Result<Response> InsertMultipart(StorageService& service, const Request& request,
                                 const std::string& bucket) {
  auto boundaries = BoundariesOf(request.headers.Get("Content-Type"));
  if (boundaries.empty()) return errors::MultipartInvalid("the Content-Type names no boundary");
  MultipartReader parts(*request.body, std::move(boundaries));
  ASSIGN_OR_RETURN(const Json resource, ReadResourcePart(parts));
  ASSIGN_OR_RETURN(const UploadPlan plan,
                   PlanUpload(request, bucket, resource, parts.headers().Get("Content-Type")));
  LastPart bytes(parts);
  ASSIGN_OR_RETURN(const ObjectInfo info, service.Insert(plan, bytes));
  return Rendered(RenderedObject(service, request, info));
}

Result<Response> StartSession(StorageService& service, const Request& request,
                              const std::string& bucket) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(UploadPlan plan, PlanUpload(request, bucket, resource,
                                               request.headers.Get("X-Upload-Content-Type")));
  plan.length = ParseNumber(request.headers.Get("X-Upload-Content-Length"));
  ASSIGN_OR_RETURN(const std::string id, service.StartUpload(plan));
  Response response;
  // The id has the resource, and some clients allow 16 KiB for all headers, so it is sent once.
  response.headers.Add("X-GUploader-UploadID", KeyOfUploadId(id));
  response.headers.Add("Location", request.BaseUrl() + request.path +
                                       "?uploadType=resumable&name=" +
                                       PercentEncoded(plan.info.name) + "&upload_id=" + id);
  return response;
}

}  // namespace

// POST /upload/storage/v1/b/{bucket}/o. With an upload_id it is a session's data (rclone).
Result<Response> InsertObject(StorageService& service, const Request& request,
                              const PathParameters& path) {
  if (request.HasQuery("upload_id")) return PutUploadSession(service, request, path);
  const std::string_view type = request.Query("uploadType");
  const bool upload_path =
      request.path.starts_with("/upload/") || request.path.starts_with("/resumable/");
  if (!upload_path) return errors::UploadTypeMissing();
  if (type == "media") return InsertMedia(service, request, path.At("bucket"));
  if (type == "multipart") return InsertMultipart(service, request, path.At("bucket"));
  if (type == "resumable") return StartSession(service, request, path.At("bucket"));
  return errors::UploadTypeMissing();
}

// PUT (or POST) of a session's URL: a piece, or a query of the progress.
Result<Response> PutUploadSession(StorageService& service, const Request& request,
                                  const PathParameters&) {
  ASSIGN_OR_RETURN(const UploadPiece piece, ReadUploadPiece(request));
  ASSIGN_OR_RETURN(const auto progress, service.ContinueUpload(piece, *request.body));
  if (!progress.done) return UploadIncomplete(request, progress.received);
  return Rendered(RenderedObject(service, request, *progress.done));
}

// DELETE of a session's URL. The service answers 499.
Result<Response> DeleteUploadSession(StorageService& service, const Request& request,
                                     const PathParameters&) {
  RETURN_IF_ERROR(service.CancelUpload(std::string(request.Query("upload_id"))));
  Response response;
  response.status = 499;
  return response;
}

namespace {

constexpr int64_t kStepUnit = 1 << 20;  // maxBytesRewrittenPerCall is a multiple of this

// "If the request body is empty, the editable metadata associated with the source object is applied
// to the destination object" (objects.rewrite): a body that names any of it replaces all.
void ClearReplacedMetadata(const Json& resource, ObjectInfo* info) {
  const auto is_named = [&](const char* name) { return Member(resource, name) != nullptr; };
  const auto is_text = [](std::string_view name) {
    return name != "kmsKeyName" && name != "storageClass";
  };
  bool names_any = is_named("metadata") || is_named("contexts");
  for (const TextField& field : kTextFields) {
    names_any |= is_text(field.name) && is_named(field.name);
  }
  if (!names_any) return;
  for (const TextField& field : kTextFields) {
    if (is_text(field.name)) (info->*field.member).clear();
  }
  info->metadata.clear();
  info->contexts.clear();
}

// Ignores the checksums of the request's resource: gsutil sends those of the source.
Result<CopyRequest> CopyRequestOf(const Request& request, const PathParameters& path) {
  CopyRequest copy;
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(copy.of_target, PreconditionsOf(request));
  ASSIGN_OR_RETURN(copy.version, VersionOf(request, "sourceGeneration"));
  ASSIGN_OR_RETURN(copy.of_source, PreconditionsOf(request, "ifSource"));
  ASSIGN_OR_RETURN(copy.source_key, CustomerKeySha256(request, kSourceKeyHeaders));
  copy.source = ObjectAt(path);
  copy.target = {path.At("toBucket"), path.At("toObject")};
  copy.change = [resource, &request](ObjectInfo* info) -> Status {
    ClearReplacedMetadata(resource, info);
    RETURN_IF_ERROR(ApplyObjectFields(resource, info));
    return ApplyDestination(request, info);
  };
  return copy;
}

Result<std::optional<uint64_t>> StepLimit(const Request& request) {
  ASSIGN_OR_RETURN(const auto limit, IntParameter(request, "maxBytesRewrittenPerCall"));
  if (!limit) return std::optional<uint64_t>();
  if (*limit < kStepUnit || *limit % kStepUnit != 0) {
    return errors::ParameterInvalid("maxBytesRewrittenPerCall", std::to_string(*limit),
                                    "expected a multiple of 1 MiB");
  }
  return std::optional<uint64_t>(static_cast<uint64_t>(*limit));
}

ComposeSource ComposeSourceOf(const Json& json) {
  ComposeSource source{StringOr(json, "name"), IntOr(json, "generation", 0)};
  const Json* conditions = Member(json, "objectPreconditions");
  if (conditions && Member(*conditions, "ifGenerationMatch")) {
    source.if_generation_match = IntOr(*conditions, "ifGenerationMatch", 0);
  }
  return source;
}

// Ignores the checksums in `destination`: gcloud sends those of the first source, so a check would
// break every composite upload.
Result<ComposeRequest> ComposeRequestOf(const Request& request, const PathParameters& path) {
  ComposeRequest compose;
  ASSIGN_OR_RETURN(const Json given, JsonBody(request));
  ASSIGN_OR_RETURN(const Json body, ReadResource(given, resource_fields::kCompose));
  ASSIGN_OR_RETURN(compose.preconditions, PreconditionsOf(request));
  compose.target = ObjectAt(path);
  const Json* sources = Member(body, "sourceObjects");
  if (sources && sources->is_array()) {
    for (const Json& source : *sources) compose.sources.push_back(ComposeSourceOf(source));
  }
  if (const Json* destination = Member(body, "destination")) {
    RETURN_IF_ERROR(ApplyObjectFields(*destination, &compose.info));
  }
  RETURN_IF_ERROR(ApplyDestination(request, &compose.info));
  compose.delete_sources = caip::IsTrue(body, "deleteSourceObjects");
  return compose;
}

}  // namespace

// POST /b/{bucket}/o/{object}/rewriteTo/b/{toBucket}/o/{toObject}
Result<Response> RewriteObject(StorageService& service, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const auto limit, StepLimit(request));
  ASSIGN_OR_RETURN(const CopyRequest copy, CopyRequestOf(request, path));
  const std::string token(request.Query("rewriteToken"));
  ASSIGN_OR_RETURN(const RewriteProgress progress, service.Rewrite(copy, token, limit));
  Json answer = {{"kind", "storage#rewriteResponse"},
                 {"totalBytesRewritten", std::to_string(progress.rewritten)},
                 {"objectSize", std::to_string(progress.size)},
                 {"done", progress.rewritten == progress.size}};
  if (progress.made) {
    answer["resource"] = RenderedObject(service, request, *progress.made);
  } else {
    answer["rewriteToken"] = progress.token;
  }
  return Rendered(answer);
}

// POST /b/{bucket}/o/{object}/copyTo/b/{toBucket}/o/{toObject}
Result<Response> CopyObject(StorageService& service, const Request& request,
                            const PathParameters& path) {
  ASSIGN_OR_RETURN(const CopyRequest copy, CopyRequestOf(request, path));
  ASSIGN_OR_RETURN(const ObjectInfo info, service.Copy(copy));
  return Rendered(RenderedObject(service, request, info));
}

// POST /b/{bucket}/o/{object}/compose
Result<Response> ComposeObject(StorageService& service, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(ComposeRequest compose, ComposeRequestOf(request, path));
  ASSIGN_OR_RETURN(const ObjectInfo made, service.Compose(std::move(compose)));
  return Rendered(RenderedObject(service, request, made));
}

}  // namespace caip::gcs
