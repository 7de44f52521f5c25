#include "base/json.h"
#include "fakes/gcs/api_methods.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/preconditions.h"
#include "fakes/gcs/upload.h"

namespace caip::gcs {
namespace {

constexpr size_t kJsonBytesMax = 4 << 20;

}  // namespace

std::string BaseOf(const Request& request) { return request.scheme + "://" + request.host; }

Result<Json> JsonBody(const Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(kJsonBytesMax));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return Json();
  auto json = ParseJson(text);
  if (!json.ok()) return errors::BodyInvalid(json.error().message);
  if (!json->is_object() && !json->is_null()) return errors::BodyInvalid("expected a JSON object");
  return json;
}

Response Rendered(const Json& json) { return http::JsonResponse(200, CompactJson(json)); }

Response NoContent() {
  Response response;
  response.status = 204;
  return response;
}

Status CheckGeneration(const Request& request, const std::string& name, const ObjectInfo& info) {
  ASSIGN_OR_RETURN(const auto generation, IntParameter(request, name));
  if (generation && *generation != info.generation) {
    return errors::ObjectNotFound(info.bucket, info.name + "#" + std::to_string(*generation));
  }
  return Ok{};
}

Result<std::optional<Response>> CheckReadConditions(const Request& request,
                                                    const ObjectInfo& info) {
  ASSIGN_OR_RETURN(Preconditions asked, PreconditionsOf(request));
  Preconditions must_match;
  must_match.if_generation_match = std::exchange(asked.if_generation_match, std::nullopt);
  must_match.if_metageneration_match = std::exchange(asked.if_metageneration_match, std::nullopt);
  RETURN_IF_ERROR(CheckPreconditions(must_match, &info));
  if (CheckPreconditions(asked, &info).ok()) return std::optional<Response>();
  Response response;
  response.status = 304;
  response.headers.Add("ETag", EtagOf(info));
  return std::optional<Response>(std::move(response));
}

}  // namespace caip::gcs
