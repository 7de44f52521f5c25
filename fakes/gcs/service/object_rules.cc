#include "fakes/gcs/service/object_rules.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kMetadataBytesMax = 8 << 10;  // documented limit of custom metadata

struct Retention {
  std::string mode;
  std::optional<Instant> until;
};

Retention RetentionFrom(const std::string& text) {
  const auto json = ParseJson(text);
  if (!json.ok()) return {};
  return {StringOr(*json, "mode"), ParseRfc3339(StringOr(*json, "retainUntilTime"))};
}

Status CheckRetention(const std::string& text) {
  if (text.empty()) return Ok{};
  const Retention retention = RetentionFrom(text);
  if (retention.mode != "Locked" && retention.mode != "Unlocked") {
    return errors::FieldInvalid("retention.mode", "expected Locked or Unlocked");
  }
  if (!retention.until) {
    return errors::FieldInvalid("retention.retainUntilTime", "expected an RFC 3339 time");
  }
  return Ok{};
}

}  // namespace

std::string EtagOf(const ObjectInfo& info) {
  return Base64(std::to_string(info.generation) + "/" + std::to_string(info.metageneration));
}

Status CheckObjectFields(const ObjectInfo& info) {
  if (!info.custom_time.empty() && !ParseRfc3339(info.custom_time)) {
    return errors::FieldInvalid("customTime", "expected an RFC 3339 time");
  }
  RETURN_IF_ERROR(CheckRetention(info.retention));
  size_t bytes = 0;
  for (const auto& [key, value] : info.metadata) bytes += key.size() + value.size();
  if (bytes > kMetadataBytesMax) {
    return errors::FieldInvalid("metadata", "all keys and values may have 8 KiB together");
  }
  return Ok{};
}

Status CheckRetentionChange(const std::string& before, const std::string& after, bool may_weaken) {
  if (before.empty() || before == after) return Ok{};
  const Retention old = RetentionFrom(before);
  const Retention now = RetentionFrom(after);
  const bool locked = old.mode == "Locked";
  const bool weaker = now.until.value_or(Instant()) < old.until.value_or(Instant()) ||
                      (locked && now.mode != "Locked");
  if (!weaker || (!locked && may_weaken)) return Ok{};
  return errors::ObjectRetained(locked);
}

Status CheckKey(const ObjectInfo& info, const std::string& shown_sha256) {
  const std::string object = info.bucket + "/" + info.name;
  if (info.customer_key_sha256 == shown_sha256) return Ok{};
  if (info.customer_key_sha256.empty()) {
    return errors::KeyInvalid("object '" + object + "' is not encrypted by such a key");
  }
  return shown_sha256.empty() ? errors::KeyNeeded(object) : errors::KeyWrong(object);
}

}  // namespace caip::gcs
