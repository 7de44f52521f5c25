#include "fakes/gcs/json/request_fields.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/resources.h"
#include "fakes/gcs/wire/request_headers.h"

namespace caip::gcs {
namespace {

constexpr size_t kJsonBytesMax = 4 << 20;

// Booleans in the spellings of client libraries, in any letter case.
constexpr std::string_view kTrueWords[] = {"true", "1", "t", "yes", "y"};
constexpr std::string_view kFalseWords[] = {"false", "0", "f", "no", "n"};

// A parameter of the query with few values. The lists of access control have checks of their own.
struct CheckedParameter {
  std::string_view name;
  std::string_view methods;       // below "storage.", separated by blanks
  std::string_view choices = {};  // separated by ", "; "": a boolean
};

// As in the discovery document.
constexpr CheckedParameter kCheckedParameters[] = {
    {"allowNonEmpty", "managedFolders.delete"},
    {"copySourceAcl", "objects.restore"},
    {"enableObjectRetention", "buckets.insert"},
    {"includeFoldersAsPrefixes", "objects.list"},
    {"includeTrailingDelimiter", "objects.list"},
    {"overrideUnlockedRetention", "objects.patch objects.update"},
    {"projection",
     "buckets.get buckets.insert buckets.list buckets.patch buckets.update objects.copy "
     "objects.get objects.insert objects.list objects.move objects.patch objects.restore "
     "objects.rewrite objects.update",
     "full, noAcl"},
    {"recursive", "folders.insert"},
    {"returnPartialSuccess", "buckets.list"},
    {"showDeletedKeys", "projects.hmacKeys.list"},
    {"softDeleted", "buckets.get buckets.list objects.get objects.list"},
    {"versions", "objects.list"},
};

template <size_t n>
bool IsWordOf(const std::string_view (&words)[n], std::string_view text) {
  return std::find(std::begin(words), std::end(words), LowerCase(text)) != std::end(words);
}

bool HasParameter(std::string_view method_id, const CheckedParameter& checked) {
  constexpr std::string_view kApi = "storage.";
  if (!method_id.starts_with(kApi)) return false;
  const auto methods = Split(checked.methods, ' ');
  method_id.remove_prefix(kApi.size());
  return std::find(methods.begin(), methods.end(), method_id) != methods.end();
}

Status CheckValue(const CheckedParameter& checked, std::string_view value) {
  if (checked.choices.empty()) {
    if (IsWordOf(kTrueWords, value) || IsWordOf(kFalseWords, value)) return Ok{};
    return errors::BooleanInvalid(value);
  }
  const std::string plain = ReplaceAll(LowerCase(value), "_", "");  // NO_ACL, as enums are written
  for (const std::string& choice : Split(checked.choices, ',')) {
    if (LowerCase(Trim(choice)) == plain) return Ok{};
  }
  return errors::ChoiceInvalid(value, checked.choices);
}

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
  if (!etag.empty()) response.headers.Add("ETag", etag);
  return response;
}

bool IsTrue(std::string_view text) { return IsWordOf(kTrueWords, text); }

bool WantsAcl(const Request& request) { return LowerCase(request.Query("projection")) == "full"; }

Status CheckParameters(const Request& request, std::string_view method_id) {
  if (request.query.empty()) return Ok{};
  for (const CheckedParameter& checked : kCheckedParameters) {
    const std::string_view value = request.Query(checked.name);
    if (value.empty() || !HasParameter(method_id, checked)) continue;
    RETURN_IF_ERROR(CheckValue(checked, value));
  }
  return Ok{};
}

std::optional<std::string> TextParameter(const Request& request, std::string_view name) {
  if (!request.HasQuery(name)) return std::nullopt;
  return std::string(request.Query(name));
}

Result<std::optional<int64_t>> IntParameter(const Request& request, const std::string& name) {
  return ParseInt(name, request.Query(name));
}

Result<size_t> PageSize(const Request& request, size_t most, const std::string& parameter) {
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, parameter));
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
  if (!WantsAcl(request) || rules.uniform_access) return json;
  json["acl"] = AclJson(info, ObjectEntries(bucket, info), request.BaseUrl());
  json["owner"] = {{"entity", "project-owners-" + bucket.project_number}};
  return json;
}

}  // namespace caip::gcs
