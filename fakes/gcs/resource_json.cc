#include "fakes/gcs/resource_json.h"

#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/checksums.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/text_fields.h"

namespace caip::gcs {
namespace {

constexpr size_t kMetadataBytesMax = 8 << 10;  // documented limit of custom metadata

// Settings with an effect that is not emulated. Taking them in silence would be a lie.
constexpr const char* kObjectFeatures[] = {"temporaryHold", "eventBasedHold", "retention",
                                           "contexts"};
constexpr const char* kBucketFeatures[] = {
    "versioning", "retentionPolicy",       "lifecycle",  "logging",
    "billing",    "defaultEventBasedHold", "encryption", "hierarchicalNamespace",
    "autoclass",  "customPlacementConfig", "ipFilter",   "objectRetention",
};

// {"enabled":false}, null, [] and false ask for nothing.
bool AsksForSomething(const Json& value) {
  if (value.is_null() || value == false || value == "") return false;
  if (!value.is_object() && !value.is_array()) return true;
  for (const auto& [key, member] : value.items()) {
    if (AsksForSomething(member)) return true;
  }
  return false;
}

template <size_t kCount>
Status RefuseFeatures(const Json& resource, const char* const (&features)[kCount],
                      const std::string& kind) {
  for (const char* feature : features) {
    const Json* value = Member(resource, feature);
    if (value && AsksForSomething(*value)) {
      return errors::NotImplemented(kind + "'s field '" + feature + "'");
    }
  }
  return Ok{};
}

Status ApplyText(const Json& resource, const char* name, std::string* into) {
  const Json* value = Member(resource, name);
  if (value == nullptr) return Ok{};
  if (!value->is_null() && !value->is_string())
    return errors::FieldInvalid(name, "expected a string");
  *into = value->is_null() ? "" : value->get<std::string>();
  return Ok{};
}

// Keys that are missing stay, null removes a key; null for the map removes all.
Status ApplyMap(const Json& resource, const char* name, std::map<std::string, std::string>* into) {
  const Json* value = Member(resource, name);
  if (value == nullptr) return Ok{};
  if (value->is_null()) {
    into->clear();
    return Ok{};
  }
  if (!value->is_object()) return errors::FieldInvalid(name, "expected an object of strings");
  for (const auto& [key, member] : value->items()) {
    if (member.is_null()) {
      into->erase(key);
    } else if (member.is_string()) {
      (*into)[key] = member.get<std::string>();
    } else {
      return errors::FieldInvalid(std::string(name) + "." + key, "expected a string");
    }
  }
  return Ok{};
}

Json ToJson(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key] = value;
  return json;
}

std::string Time(Instant instant) { return Rfc3339(instant, 3); }

}  // namespace

std::string EtagOf(const ObjectInfo& info) {
  return Base64(std::to_string(info.generation) + "/" + std::to_string(info.metageneration));
}

Json ObjectJson(const ObjectInfo& info, const std::string& base) {
  const std::string path = "/b/" + info.bucket + "/o/" + PercentEncoded(info.name);
  const std::string generation = std::to_string(info.generation);
  Json json = {
      {"kind", "storage#object"},
      {"id", info.bucket + "/" + info.name + "/" + generation},
      {"selfLink", base + "/storage/v1" + path},
      {"mediaLink",
       base + "/download/storage/v1" + path + "?generation=" + generation + "&alt=media"},
      {"name", info.name},
      {"bucket", info.bucket},
      {"generation", generation},
      {"metageneration", std::to_string(info.metageneration)},
      {"size", std::to_string(info.size)},
  };
  for (const TextField& field : kTextFields) {
    if (!(info.*field.member).empty()) json[field.name] = info.*field.member;
  }
  if (!info.md5.empty()) json["md5Hash"] = Base64(info.md5);
  json["crc32c"] = Crc32cText(info.crc32c);
  json["etag"] = EtagOf(info);
  json["timeCreated"] = Time(info.time_created);
  json["updated"] = Time(info.updated);
  json["timeStorageClassUpdated"] = Time(info.time_created);
  if (info.component_count > 0) json["componentCount"] = info.component_count;
  if (!info.metadata.empty()) json["metadata"] = ToJson(info.metadata);
  return json;
}

Json BucketJson(const Bucket& bucket, const std::string& base) {
  Json json = {
      {"kind", "storage#bucket"},
      {"id", bucket.name},
      {"selfLink", base + "/storage/v1/b/" + bucket.name},
      {"name", bucket.name},
      {"projectNumber", "0"},
      {"location", bucket.location},
      {"locationType", "region"},
      {"storageClass", bucket.storage_class},
      {"timeCreated", Time(bucket.time_created)},
      {"updated", Time(bucket.updated)},
      {"metageneration", std::to_string(bucket.metageneration)},
      {"etag", Base64(std::to_string(bucket.metageneration))},
      {"iamConfiguration", {{"uniformBucketLevelAccess", {{"enabled", true}}}}},
  };
  if (!bucket.labels.empty()) json["labels"] = ToJson(bucket.labels);
  return json;
}

Status ApplyObjectFields(const Json& resource, ObjectInfo* info) {
  if (!resource.is_object() && !resource.is_null()) {
    return errors::BodyInvalid("expected a JSON object");
  }
  RETURN_IF_ERROR(RefuseFeatures(resource, kObjectFeatures, "an object"));
  for (const TextField& field : kTextFields) {
    RETURN_IF_ERROR(ApplyText(resource, field.name, &(info->*field.member)));
  }
  if (!info->custom_time.empty() && !ParseRfc3339(info->custom_time)) {
    return errors::FieldInvalid("customTime", "expected an RFC 3339 time");
  }
  RETURN_IF_ERROR(ApplyMap(resource, "metadata", &info->metadata));
  size_t bytes = 0;
  for (const auto& [key, value] : info->metadata) bytes += key.size() + value.size();
  if (bytes > kMetadataBytesMax) {
    return errors::FieldInvalid("metadata", "all keys and values may have 8 KiB together");
  }
  return Ok{};
}

Result<ExpectedSums> SumsOf(const Json& resource) {
  ExpectedSums sums;
  if (const std::string md5 = StringOr(resource, "md5Hash"); !md5.empty()) {
    sums.md5 = FromBase64(md5);
    if (!sums.md5 || sums.md5->size() != 16) {
      return errors::FieldInvalid("md5Hash", "expected 16 bytes in base64");
    }
  }
  if (const std::string crc32c = StringOr(resource, "crc32c"); !crc32c.empty()) {
    sums.crc32c = ParseCrc32c(crc32c);
    if (!sums.crc32c) return errors::FieldInvalid("crc32c", "expected 4 bytes in base64");
  }
  return sums;
}

Status ApplyBucketFields(const Json& resource, Bucket* bucket) {
  if (!resource.is_object()) return errors::BodyInvalid("expected a JSON object");
  RETURN_IF_ERROR(RefuseFeatures(resource, kBucketFeatures, "a bucket"));
  RETURN_IF_ERROR(ApplyText(resource, "location", &bucket->location));
  RETURN_IF_ERROR(ApplyText(resource, "storageClass", &bucket->storage_class));
  bucket->location = UpperCase(bucket->location);
  return ApplyMap(resource, "labels", &bucket->labels);
}

}  // namespace caip::gcs
