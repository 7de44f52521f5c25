// An upload_id is the upload's plan in base64url with a sum over it, so that nobody need remember.
#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/service/resumable.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/record_text.h"

namespace caip::gcs {
namespace {

struct Condition {
  const char* name;
  std::optional<int64_t> Preconditions::*member;
};

constexpr Condition kConditions[] = {
    {"g", &Preconditions::if_generation_match},
    {"gn", &Preconditions::if_generation_not_match},
    {"m", &Preconditions::if_metageneration_match},
    {"mn", &Preconditions::if_metageneration_not_match},
};

// Not against attackers (who may write objects anyway) but against URLs of others and typing.
std::string Seal(std::string_view text) {
  Hasher hasher;
  hasher.Add("caip-upload:");
  hasher.Add(text);
  return Hex(hasher.Finish().md5).substr(0, 16);
}

std::string UrlBase64(std::string_view bytes) {
  std::string text = Base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

}  // namespace

std::string UploadIdOf(const UploadPlan& plan, std::string_view nonce) {
  Json json = {{"id", nonce},
               {"b", plan.info.bucket},
               {"o", plan.info.name},
               {"r", ObjectRecordText(plan.info)}};
  for (const Condition& condition : kConditions) {
    const auto& value = plan.preconditions.*condition.member;
    if (value) json[condition.name] = *value;
  }
  if (plan.sums.md5) json["md5"] = Base64(*plan.sums.md5);
  if (plan.sums.crc32c) json["crc"] = *plan.sums.crc32c;
  if (plan.length) json["l"] = *plan.length;
  const std::string text = UrlBase64(CompactJson(json));
  return text + "." + Seal(text);
}

std::string KeyOfUploadId(std::string_view upload_id) {
  Hasher hasher;
  hasher.Add(upload_id);
  return Hex(hasher.Finish().md5);
}

std::optional<UploadPlan> PlanOfUploadId(std::string_view upload_id) {
  const size_t dot = upload_id.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view text = upload_id.substr(0, dot);
  if (Seal(text) != upload_id.substr(dot + 1)) return std::nullopt;
  const auto bytes = FromBase64(text);
  if (!bytes) return std::nullopt;
  const auto json = ParseJson(*bytes);
  if (!json.ok()) return std::nullopt;
  UploadPlan plan;
  plan.info = ObjectFromRecordText(StringOr(*json, "r"));
  plan.info.bucket = StringOr(*json, "b");
  plan.info.name = StringOr(*json, "o");
  for (const Condition& condition : kConditions) {
    if (Member(*json, condition.name)) {
      plan.preconditions.*condition.member = IntOr(*json, condition.name, 0);
    }
  }
  if (Member(*json, "md5")) plan.sums.md5 = FromBase64(StringOr(*json, "md5"));
  if (Member(*json, "crc")) plan.sums.crc32c = static_cast<uint32_t>(IntOr(*json, "crc", 0));
  if (Member(*json, "l")) plan.length = static_cast<uint64_t>(IntOr(*json, "l", 0));
  return plan;
}

}  // namespace caip::gcs
