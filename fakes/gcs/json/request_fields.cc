#include "fakes/gcs/json/request_fields.h"

#include <algorithm>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/resources.h"
#include "fakes/gcs/wire/request_headers.h"

namespace caip::gcs {
namespace {

constexpr size_t kJsonBytesMax = 4 << 20;

}  // namespace

using http::Request;
using http::Response;

Result<Json> JsonBody(const Request& request) {
  auto body = request.ReadBody(kJsonBytesMax);
  if (!body.ok() && body.error().code == Code::kResourceExhausted) {
    return errors::BodyInvalid("a resource may have at most 4 MiB");
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

Response NotModified(const std::string& etag) {
  Response response;
  response.status = 304;
  response.headers.Add("ETag", etag);
  return response;
}

bool IsTrue(std::string_view text) { return text == "true" || text == "True" || text == "1"; }

std::optional<std::string> TextParameter(const Request& request, std::string_view name) {
  if (!request.HasQuery(name)) return std::nullopt;
  return std::string(request.Query(name));
}

Result<std::optional<int64_t>> IntParameter(const Request& request, const std::string& name) {
  return ParseInt(name, request.Query(name));
}

Result<size_t> PageSize(const Request& request, size_t most) {
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, "maxResults"));
  const auto limit = static_cast<int64_t>(most);
  return static_cast<size_t>(std::clamp(wanted.value_or(limit), int64_t{1}, limit));
}

ObjectName ObjectAt(const http::PathParameters& path) {
  return {path.At("bucket"), path.At("object")};
}

std::string FolderName(std::string name) {
  if (!name.empty() && !name.ends_with('/')) name += '/';
  return name;
}

Result<Version> VersionOf(const Request& request, const std::string& generation) {
  ASSIGN_OR_RETURN(const auto number, ParseGeneration(generation, request.Query(generation)));
  return Version{number.value_or(0), false};
}

Result<Version> ShownVersionOf(const Request& request) {
  ASSIGN_OR_RETURN(Version version, VersionOf(request));
  version.soft_deleted = IsTrue(request.Query("softDeleted"));
  if (version.soft_deleted && version.generation == 0) return errors::Required("generation");
  return version;
}

Result<Preconditions> PreconditionsOf(const Request& request, const std::string& prefix) {
  Preconditions preconditions;
  const auto has_prefix = [&prefix](const auto& item) { return item.first.starts_with(prefix); };
  if (std::none_of(request.query.begin(), request.query.end(), has_prefix)) return preconditions;
  const std::pair<const char*, std::optional<int64_t>*> parameters[] = {
      {"GenerationMatch", &preconditions.if_generation_match},
      {"GenerationNotMatch", &preconditions.if_generation_not_match},
      {"MetagenerationMatch", &preconditions.if_metageneration_match},
      {"MetagenerationNotMatch", &preconditions.if_metageneration_not_match},
  };
  for (const auto& [name, into] : parameters) {
    ASSIGN_OR_RETURN(*into, IntParameter(request, prefix + name));
  }
  return preconditions;
}

Status ApplyDestination(const Request& request, ObjectInfo* info) {
  if (request.HasQuery("predefinedAcl") || request.HasQuery("destinationPredefinedAcl")) {
    const std::string_view own = request.Query("predefinedAcl");
    ASSIGN_OR_RETURN(
        const AccessEntries entries,
        PredefinedEntries(own.empty() ? request.Query("destinationPredefinedAcl") : own,
                          AccessListKind::kObject));
    SetObjectEntries(entries, info);
  }
  ASSIGN_OR_RETURN(info->customer_key_sha256, CustomerKeySha256(request));
  for (const char* parameter : {"kmsKeyName", "destinationKmsKeyName"}) {
    if (request.HasQuery(parameter)) info->kms_key_name = std::string(request.Query(parameter));
  }
  return Ok{};
}

Json WithoutSecretSums(Json object, const Request& request, const ObjectInfo& info) {
  if (info.customer_key_sha256.empty()) return object;
  const auto key = CustomerKeySha256(request);
  if (key.ok() && *key == info.customer_key_sha256) return object;
  object.erase("md5Hash");
  object.erase("crc32c");
  return object;
}

Json RenderedObject(const StorageService& service, const Request& request, const ObjectInfo& info) {
  const auto bucket = service.GetBucket(info.bucket);
  if (!bucket.ok()) return ObjectJson(info, request.BaseUrl());  // deleted meanwhile
  return RenderedObject(*bucket, RulesOf(*bucket), request, info);
}

Json RenderedObject(const Bucket& bucket, const BucketRules& rules, const Request& request,
                    const ObjectInfo& info) {
  Json json = ObjectJson(info, request.BaseUrl());
  if (const auto until = RetentionEnd(rules, info)) {
    json["retentionExpirationTime"] = Rfc3339(*until, 3);
  }
  if (request.Query("projection") != "full" || rules.uniform_access) return json;
  json["acl"] = AclJson(info, ObjectEntries(bucket, info), request.BaseUrl());
  json["owner"] = {{"entity", "project-owners-" + bucket.project_number}};
  return json;
}

}  // namespace caip::gcs
