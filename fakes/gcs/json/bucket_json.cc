#include "fakes/gcs/json/bucket_json.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/json/access_json.h"
#include "fakes/gcs/service/bucket_settings.h"
#include "fakes/gcs/store/bucket_rules.h"

namespace caip::gcs {
namespace {

constexpr const char* kMultiRegions[] = {"US", "EU", "ASIA"};
constexpr const char* kDualRegions[] = {"NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1"};

std::string LocationType(const Bucket& bucket, const Json& settings) {
  if (settings.contains("customPlacementConfig")) return "dual-region";
  for (const char* name : kMultiRegions) {
    if (bucket.location == name) return "multi-region";
  }
  for (const char* name : kDualRegions) {
    if (bucket.location == name) return "dual-region";
  }
  return "region";
}

}  // namespace

std::string EtagOf(const Bucket& bucket) { return Base64(std::to_string(bucket.metageneration)); }

Json BucketJson(const Bucket& bucket, const std::string& base, bool full) {
  Json settings = SettingsOf(bucket);
  Json json = {
      {"kind", "storage#bucket"},
      {"id", bucket.name},
      {"selfLink", base + "/storage/v1/b/" + bucket.name},
      {"name", bucket.name},
      {"projectNumber", "0"},
      {"location", bucket.location},
      {"locationType", LocationType(bucket, settings)},
      {"storageClass", bucket.storage_class},
      {"timeCreated", Rfc3339(bucket.time_created, 3)},
      {"updated", Rfc3339(bucket.updated, 3)},
      {"metageneration", std::to_string(bucket.metageneration)},
      {"etag", EtagOf(bucket)},
  };
  if (!bucket.labels.empty()) {
    for (const auto& [key, value] : bucket.labels) json["labels"][key] = value;
  }
  const Json off = {{"enabled", false}};
  Json iam = {{"bucketPolicyOnly", off},
              {"uniformBucketLevelAccess", off},
              {"publicAccessPrevention", "inherited"}};
  if (settings.contains("iamConfiguration")) iam.merge_patch(settings["iamConfiguration"]);
  settings["iamConfiguration"] = std::move(iam);
  if (!settings.contains("softDeletePolicy")) {
    settings["softDeletePolicy"] = {{"retentionDurationSeconds", "0"}};
  }
  for (const auto& [name, value] : settings.items()) json[name] = value;
  if (full && !RulesOf(bucket).uniform_access) {
    json["acl"] = BucketAclJson(bucket, base);
    json["defaultObjectAcl"] = NewObjectAclJson(bucket, base);
    json["owner"] = {{"entity", "project-owners-0"}};
  }
  return json;
}

}  // namespace caip::gcs
