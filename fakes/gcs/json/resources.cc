
#include "fakes/gcs/json/resources.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/calendar_time.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/locations.h"
#include "fakes/gcs/service/object_fields.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/stored_values.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

LocationType LocationTypeIn(const Bucket& bucket, const Json& settings) {
  return LocationTypeOf(bucket.location, settings.contains("customPlacementConfig"));
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
      {"projectNumber", bucket.project_number},
      {"location", bucket.location},
      {"locationType", LocationTypeName(LocationTypeIn(bucket, settings))},
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
    settings["softDeletePolicy"] = {{"retentionDurationSeconds", "0"},
                                    {"effectiveTime", Rfc3339(bucket.time_created, 3)}};
  }
  const bool replicates = LocationTypeIn(bucket, settings) != LocationType::kRegion;
  if (replicates && !settings.contains("rpo")) settings["rpo"] = "DEFAULT";
  for (const auto& [name, value] : settings.items()) json[name] = value;
  if (full && !RulesOf(bucket).uniform_access) {
    json["acl"] = BucketAclJson(bucket, base);
    json["defaultObjectAcl"] = NewObjectAclJson(bucket, base);
    json["owner"] = {{"entity", "project-owners-" + bucket.project_number}};
  }
  return json;
}

namespace {

// Adds the fields that follow from an entity: "user-a@b.c", "domain-b.c",
// "project-owners-123".
void AddEntityParts(const std::string& entity, Json* json) {
  const size_t dash = entity.find('-');
  const std::string type = entity.substr(0, dash);
  if (dash != std::string::npos && (type == "user" || type == "group")) {
    (*json)["email"] = entity.substr(dash + 1);
  } else if (dash != std::string::npos && type == "domain") {
    (*json)["domain"] = entity.substr(dash + 1);
  } else if (type == "project") {
    const size_t last = entity.rfind('-');
    (*json)["projectTeam"] = {{"projectNumber", entity.substr(last + 1)},
                              {"team", entity.substr(dash + 1, last - dash - 1)}};
  }
}

// The entry as a resource of its own.
Json EntryJson(const AccessEntry& entry, const char* kind, const std::string& id,
               const std::string& link) {
  const auto& [entity, role] = entry;
  Json json = {{"kind", kind}, {"id", id + "/" + entity}, {"selfLink", link + "/" + entity}};
  json["entity"] = entity;
  json["role"] = role;
  json["etag"] = Base64(entity + role);
  AddEntityParts(entity, &json);
  return json;
}

}  // namespace

Json BucketAclJson(const Bucket& bucket, const std::string& base) {
  Json list = Json::array();
  for (const AccessEntry& entry : BucketEntries(bucket)) {
    Json json = EntryJson(entry, "storage#bucketAccessControl", bucket.name,
                          base + "/storage/v1/b/" + bucket.name + "/acl");
    json["bucket"] = bucket.name;
    list.push_back(std::move(json));
  }
  return list;
}

Json NewObjectAclJson(const Bucket& bucket, const std::string& base) {
  Json list = Json::array();
  for (const AccessEntry& entry : NewObjectEntries(bucket)) {
    list.push_back(EntryJson(entry, "storage#objectAccessControl", bucket.name,
                             base + "/storage/v1/b/" + bucket.name + "/defaultObjectAcl"));
  }
  return list;
}

Json AclJson(const ObjectInfo& info, const AccessEntries& entries, const std::string& base) {
  Json list = Json::array();
  const std::string generation = std::to_string(info.generation);
  const std::string link =
      base + "/storage/v1/b/" + info.bucket + "/o/" + PercentEncoded(info.name) + "/acl";
  for (const AccessEntry& entry : entries) {
    Json json = EntryJson(entry, "storage#objectAccessControl",
                          info.bucket + "/" + info.name + "/" + generation, link);
    json["bucket"] = info.bucket;
    json["object"] = info.name;
    json["generation"] = generation;
    list.push_back(std::move(json));
  }
  return list;
}

namespace {

// The value of a text field; "" for null.
void ApplyObjectText(const Json& wanted, const char* name, std::string* into) {
  if (Member(wanted, name) != nullptr) *into = StringOr(wanted, name);
}

// Missing keys are kept. A null value removes its key, and null instead of the map removes all
// keys.
void ApplyMap(const Json& wanted, const char* name, std::map<std::string, std::string>* into) {
  const Json* value = Member(wanted, name);
  if (value == nullptr) return;
  if (value->is_null()) into->clear();
  for (const auto& [key, member] : value->items()) {
    if (member.is_null()) {
      into->erase(key);
    } else {
      (*into)[key] = member.get<std::string>();
    }
  }
}

// A JSON object that is stored as text, without what an earlier version stored unchecked.
Json StoredDocument(const char* name, const std::string& text) {
  const auto stored = ParseJson(text);
  if (!stored.ok() || !stored->is_object()) return Json::object();
  return ValidMembers(Json{{name, *stored}}, resource_fields::kObject, {}, nullptr)[name];
}

// A patch is merged into the document (RFC 7396).
void ApplyDocument(const Json& wanted, const char* name, std::string* into) {
  const Json* value = Member(wanted, name);
  if (value == nullptr) return;
  Json merged = StoredDocument(name, *into);
  merged.merge_patch(*value);
  const bool nothing = value->is_null() || merged.empty();
  *into = nothing ? "" : CompactJson(merged);
}

// The contexts of a patch that the object has afterwards in any case.
size_t CountNewContexts(const Json& patch) {
  const Json* custom = Member(patch, "custom");
  size_t count = 0;
  for (const Json& payload : custom ? *custom : Json::object()) {
    const Json* value = Member(payload, "value");
    count += value != nullptr && !value->is_null() ? 1 : 0;
  }
  return count;
}

// Contexts are merged key by key. A null value removes the key.
Status ApplyContexts(const Json& wanted, std::string* contexts) {
  const Json* value = Member(wanted, "contexts");
  if (value == nullptr) return Ok{};
  RETURN_IF_ERROR(CheckContextCount(CountNewContexts(*value)));
  Json merged = StoredDocument("contexts", *contexts);
  merged.merge_patch(*value);
  Json kept = Json::object();
  const Json* custom = Member(merged, "custom");
  if (custom != nullptr && custom->is_object()) {
    for (const auto& [key, payload] : custom->items()) {
      if (Member(payload, "value") != nullptr) kept[key] = payload;
    }
  }
  RETURN_IF_ERROR(CheckContexts(kept));
  *contexts = kept.empty() ? "" : CompactJson(Json{{"custom", std::move(kept)}});
  return Ok{};
}

Json MapJson(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key] = value;
  return json;
}

std::string Time(Instant instant) { return Rfc3339(instant, 3); }

// Adds holds, retention, and the deletion times of a version that is not live.
void AddStates(const ObjectInfo& info, Json* json) {
  for (const FlagField& flag : kFlagFields) {
    if (flag.IsShown(info)) (*json)[flag.name] = info.*flag.member;
  }
  for (const TextField& field : kJsonFields) {
    if ((info.*field.member).empty()) continue;
    Json document = StoredDocument(field.name, info.*field.member);
    if (!document.empty()) (*json)[field.name] = std::move(document);
  }
  if (info.time_deleted) (*json)["timeDeleted"] = Time(*info.time_deleted);
  if (info.soft_delete_time) (*json)["softDeleteTime"] = Time(*info.soft_delete_time);
  if (info.hard_delete_time) (*json)["hardDeleteTime"] = Time(*info.hard_delete_time);
  if (!info.customer_key_sha256.empty()) {
    (*json)["customerEncryption"] = {{"encryptionAlgorithm", "AES256"},
                                     {"keySha256", info.customer_key_sha256}};
  }
}

}  // namespace

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
  // Earlier versions kept it as it was given.
  if (!info.custom_time.empty()) json["customTime"] = NormalTimeText(info.custom_time);
  if (!info.md5.empty()) json["md5Hash"] = Base64(info.md5);
  json["crc32c"] = Crc32cText(info.crc32c);
  json["etag"] = EtagOf(info);
  json["timeCreated"] = json["timeFinalized"] = Time(info.time_created);
  json["updated"] = Time(info.updated);
  json["timeStorageClassUpdated"] = Time(info.time_created);  // a rewrite makes a new object
  AddStates(info, &json);
  if (info.component_count > 0) json["componentCount"] = info.component_count;
  if (!info.metadata.empty()) json["metadata"] = MapJson(info.metadata);
  return json;
}

Status ApplyObjectFields(const Json& resource, ObjectInfo* info) {
  ASSIGN_OR_RETURN(const Json wanted, ReadResource(resource, resource_fields::kObject));
  for (const TextField& field : kTextFields) {
    ApplyObjectText(wanted, field.name, &(info->*field.member));
  }
  for (const FlagField& flag : kFlagFields) {
    const Json* value = Member(wanted, flag.name);
    if (value == nullptr) continue;
    flag.Set(value->is_null() ? std::nullopt : std::optional(*value == true), info);
  }
  for (const TextField& field : kJsonFields) {
    const bool merged = field.member == &ObjectInfo::contexts;
    if (!merged) ApplyDocument(wanted, field.name, &(info->*field.member));
  }
  RETURN_IF_ERROR(ApplyContexts(wanted, &info->contexts));
  if (const Json* acl = Member(wanted, "acl"); acl != nullptr && !acl->is_null()) {
    const AccessEntries entries = EntriesFromJson(*acl);
    info->acl.clear();
    if (!entries.empty()) SetObjectEntries(entries, info);
  }
  ApplyMap(wanted, "metadata", &info->metadata);
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

}  // namespace caip::gcs
