#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/upload.h"
#include "fakes/gcs/store/bucket_rules.h"
#include "fakes/gcs/store/preconditions.h"

namespace caip::gcs {
namespace {

constexpr size_t kJsonBytesMax = 4 << 20;

}  // namespace

std::string BaseOf(const Request& request) { return request.scheme + "://" + request.host; }

Result<Json> JsonBody(const Request& request) {
  auto body = request.ReadBody(kJsonBytesMax);
  if (!body.ok() && body.error().code == Code::kResourceExhausted) {
    return errors::BodyInvalid("a resource may have 4 MiB");
  }
  if (!body.ok()) return body.error();
  const std::string& text = *body;
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

Result<Version> VersionOf(const Request& request, const std::string& generation) {
  ASSIGN_OR_RETURN(const auto number, IntParameter(request, generation));
  if (number && *number < 0) {
    return errors::ParameterInvalid(generation, request.Query(generation), "it is negative");
  }
  Version version{number.value_or(0), IsTrue(request.Query("softDeleted"))};
  if (version.soft_deleted && version.generation == 0) return errors::Required(generation);
  return version;
}

bool IsTrue(std::string_view text) { return text == "true" || text == "True" || text == "1"; }

Json RenderedObject(StorageApi& api, const Request& request, const ObjectInfo& info) {
  const auto bucket = api.store.GetBucket(info.bucket);
  if (!bucket.ok()) return ObjectJson(info, BaseOf(request));  // gone meanwhile
  return RenderedObject(*bucket, RulesOf(*bucket), request, info);
}

Json RenderedObject(const Bucket& bucket, const BucketRules& rules, const Request& request,
                    const ObjectInfo& info) {
  Json json = ObjectJson(info, BaseOf(request));
  if (const auto until = RetentionEnd(rules, info)) {
    json["retentionExpirationTime"] = Rfc3339(*until, 3);
  }
  if (request.Query("projection") != "full" || rules.uniform_access) return json;
  json["acl"] = ObjectAcl(bucket, info, BaseOf(request));
  json["owner"] = {{"entity", "project-owners-0"}};
  return json;
}

// Whether If-Match or If-None-Match names the tag, quoted or as the resource shows it.
static bool NamesTag(std::string_view header, const std::string& etag) {
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

Result<std::optional<Response>> CheckReadConditions(const Request& request,
                                                    const ObjectInfo& info) {
  ASSIGN_OR_RETURN(Preconditions asked, PreconditionsOf(request));
  Preconditions must_match;
  must_match.if_generation_match = std::exchange(asked.if_generation_match, std::nullopt);
  must_match.if_metageneration_match = std::exchange(asked.if_metageneration_match, std::nullopt);
  RETURN_IF_ERROR(CheckPreconditions(must_match, &info));
  const std::string etag = EtagOf(info);
  const std::string_view if_match = request.headers.Get("If-Match");
  if (!if_match.empty() && !NamesTag(if_match, etag)) return errors::EtagChanged();
  const bool has_it = NamesTag(request.headers.Get("If-None-Match"), etag);
  if (!has_it && CheckPreconditions(asked, &info).ok()) return std::optional<Response>();
  Response response;
  response.status = 304;
  response.headers.Add("ETag", etag);
  return std::optional<Response>(std::move(response));
}

}  // namespace caip::gcs
