#include <charconv>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/service/upload.h"
#include "fakes/gcs/wire/multipart.h"

namespace caip::gcs {
namespace {

constexpr size_t kResourceBytesMax = 2 << 20;

Result<Response> Finish(StorageApi& api, const Request& request, ObjectWriter& writer,
                        const UploadPlan& plan) {
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   writer.Commit(plan.info, plan.preconditions, plan.sums.md5, plan.sums.crc32c));
  return Rendered(RenderedObject(api, request, info));
}

// The body is the object's bytes.
Result<Response> InsertMedia(StorageApi& api, const Request& request, const std::string& bucket) {
  ASSIGN_OR_RETURN(UploadPlan plan,
                   PlanUpload(request, bucket, Json(), request.headers.Get("Content-Type")));
  RETURN_IF_ERROR(AddHeaderSums(request, &plan.sums));
  ASSIGN_OR_RETURN(const auto writer, api.store.NewObject(bucket, plan.info.name));
  RETURN_IF_ERROR(CopyBody(*request.body, *writer));
  return Finish(api, request, *writer, plan);
}

// Part 1 is the resource, part 2 the bytes.
Result<Response> InsertMultipart(StorageApi& api, const Request& request,
                                 const std::string& bucket) {
  auto boundaries = BoundariesOf(request.headers.Get("Content-Type"));
  if (boundaries.empty()) return errors::MultipartInvalid("the Content-Type names no boundary");
  MultipartReader parts(*request.body, std::move(boundaries));
  ASSIGN_OR_RETURN(const bool first, parts.NextPart());
  if (!first) return errors::MultipartInvalid("it has no parts");
  ASSIGN_OR_RETURN(const std::string text, parts.ReadPart(kResourceBytesMax));
  auto resource = ParseJson(text);
  if (!resource.ok()) return errors::BodyInvalid(resource.error().message);
  ASSIGN_OR_RETURN(const bool second, parts.NextPart());
  if (!second) return errors::MultipartInvalid("the part with the object's bytes is missing");
  ASSIGN_OR_RETURN(UploadPlan plan,
                   PlanUpload(request, bucket, *resource, parts.headers().Get("Content-Type")));
  RETURN_IF_ERROR(AddHeaderSums(request, &plan.sums));
  ASSIGN_OR_RETURN(const auto writer, api.store.NewObject(bucket, plan.info.name));
  RETURN_IF_ERROR(CopyBody(parts, *writer));
  ASSIGN_OR_RETURN(const bool third, parts.NextPart());
  if (third) return errors::MultipartInvalid("it has more than two parts");
  return Finish(api, request, *writer, plan);
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<Response> StartSession(StorageApi& api, const Request& request, const std::string& bucket) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(UploadPlan plan, PlanUpload(request, bucket, resource,
                                               request.headers.Get("X-Upload-Content-Type")));
  RETURN_IF_ERROR(AddHeaderSums(request, &plan.sums));
  plan.length = Number(request.headers.Get("X-Upload-Content-Length"));
  ASSIGN_OR_RETURN(const std::string id, api.sessions.Start(plan));
  Response response;
  response.headers.Add("X-GUploader-UploadID", id);
  response.headers.Add("Location", BaseOf(request) + request.path + "?uploadType=resumable&name=" +
                                       PercentEncoded(plan.info.name) + "&upload_id=" + id);
  return response;
}

// 308 with the range that is here, or for clients that cannot bear a 308, the same in a 200.
Response Incomplete(const Request& request, uint64_t received) {
  Response response;
  response.status = 308;
  if (LowerCase(request.headers.Get("X-Guploader-No-308")) == "yes") {
    response.status = 200;
    response.headers.Add("X-Http-Status-Code-Override", "308");
  }
  if (received > 0) response.headers.Add("Range", "bytes=0-" + std::to_string(received - 1));
  return response;
}

// An id that we never gave is gone, not missing: at a 404 gcloud never forgets the URL.
Result<Response> Gone(const Error& error) {
  if (error.code != Code::kOutOfRange) return error;
  return errors::ToResponse(410, "gone", error.message);
}

}  // namespace

// POST /upload/storage/v1/b/{bucket}/o. With an upload_id it is a session's data (rclone).
Result<Response> InsertObject(StorageApi& api, const Request& request, const PathParameters& path) {
  if (request.HasQuery("upload_id")) return PutUploadSession(api, request, path);
  const std::string_view type = request.Query("uploadType");
  const bool upload_path =
      request.path.starts_with("/upload/") || request.path.starts_with("/resumable/");
  if (!upload_path) return errors::UploadTypeMissing();
  if (type == "media") return InsertMedia(api, request, path.At("bucket"));
  if (type == "multipart") return InsertMultipart(api, request, path.At("bucket"));
  if (type == "resumable") return StartSession(api, request, path.At("bucket"));
  return errors::UploadTypeMissing();
}

// PUT (or POST) of a session's URL: a piece, or the question where it stands.
Result<Response> PutUploadSession(StorageApi& api, const Request& request, const PathParameters&) {
  std::optional<ContentRange> range;
  const std::string_view header = request.headers.Get("Content-Range");
  if (!header.empty()) {
    range = ParseContentRange(header);
    if (!range) return errors::ContentRangeInvalid(header);
    const auto length = Number(request.headers.Get("Content-Length"));
    if (length && range->first && range->last && *length != *range->last - *range->first + 1) {
      return errors::UploadLengthWrong(*range->last - *range->first + 1, *length);
    }
  }
  ExpectedSums sums;
  RETURN_IF_ERROR(AddHeaderSums(request, &sums));
  const auto progress =
      api.sessions.Put(std::string(request.Query("upload_id")), range, sums, *request.body);
  if (!progress.ok()) return Gone(progress.error());
  if (!progress->done) return Incomplete(request, progress->received);
  return Rendered(RenderedObject(api, request, *progress->done));
}

// DELETE of a session's URL. 499 is what the service answers.
Result<Response> DeleteUploadSession(StorageApi& api, const Request& request,
                                     const PathParameters&) {
  const Status cancelled = api.sessions.Cancel(std::string(request.Query("upload_id")));
  if (!cancelled.ok()) return Gone(cancelled.error());
  Response response;
  response.status = 499;
  return response;
}

}  // namespace caip::gcs
