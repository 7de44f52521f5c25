#include "fakes/gcs/service/upload.h"

#include <charconv>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/encryption_keys.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

constexpr size_t kCopyBytes = 256 << 10;

Status AddSum(std::string_view name, std::string_view text, ExpectedSums* sums) {
  if (name == "md5") {
    sums->md5 = FromBase64(text);
    if (sums->md5 && sums->md5->size() == 16) return Ok{};
  } else if (name == "crc32c") {
    sums->crc32c = ParseCrc32c(text);
    if (sums->crc32c) return Ok{};
  } else {
    return Ok{};
  }
  return errors::FieldInvalid(name, "expected a sum in base64");
}

}  // namespace

Result<std::optional<int64_t>> IntParameter(const http::Request& request, const std::string& name) {
  const std::string_view text = request.Query(name);
  if (text.empty()) return std::optional<int64_t>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return errors::ParameterInvalid(name, text, "expected an integer");
  }
  return std::optional<int64_t>(number);
}

Result<Preconditions> PreconditionsOf(const http::Request& request, const std::string& prefix) {
  Preconditions preconditions;
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

Status AddHeaderSums(const http::Request& request, ExpectedSums* sums) {
  for (const auto& [name, value] : request.headers.all()) {
    if (LowerCase(name) != "x-goog-hash") continue;
    for (const std::string& item : Split(value, ',')) {
      const size_t equals = item.find('=');
      if (equals == std::string::npos) continue;
      RETURN_IF_ERROR(AddSum(Trim(item.substr(0, equals)), Trim(item.substr(equals + 1)), sums));
    }
  }
  const std::string_view md5 = request.headers.Get("Content-MD5");
  return md5.empty() ? Status(Ok{}) : AddSum("md5", md5, sums);
}

Status ApplyDestination(const http::Request& request, ObjectInfo* info) {
  if (request.HasQuery("predefinedAcl") || request.HasQuery("destinationPredefinedAcl")) {
    const std::string_view own = request.Query("predefinedAcl");
    ASSIGN_OR_RETURN(const Json acl,
                     PredefinedAcl(own.empty() ? request.Query("destinationPredefinedAcl") : own));
    info->acl = CompactJson(acl);
  }
  ASSIGN_OR_RETURN(info->customer_key_sha256, KeyShown(request));
  for (const char* parameter : {"kmsKeyName", "destinationKmsKeyName"}) {
    if (request.HasQuery(parameter)) info->kms_key_name = std::string(request.Query(parameter));
  }
  return Ok{};
}

Result<UploadPlan> PlanUpload(const http::Request& request, const std::string& bucket,
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
  return plan;
}

Result<uint64_t> CopyBody(http::BodyReader& body, ObjectWriter& writer) {
  std::vector<char> buffer(kCopyBytes);
  uint64_t total = 0;
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(buffer.data(), buffer.size()));
    if (count == 0) return total;
    RETURN_IF_ERROR(writer.Append({buffer.data(), count}));
    total += count;
  }
}

}  // namespace caip::gcs
