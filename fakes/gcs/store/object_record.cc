
#include "fakes/gcs/store/object_record.h"

#include <cstdlib>
#include <span>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"

namespace caip::gcs {
namespace {

int64_t Nanoseconds(Instant instant) { return instant.time_since_epoch().count(); }

Instant InstantOf(const Json& json, std::string_view name) {
  return Instant(Duration(IntOr(json, name, 0)));
}

struct TimeField {
  const char* name;
  std::optional<Instant> ObjectInfo::*member;
};

constexpr TimeField kTimeFields[] = {
    {"timeDeleted", &ObjectInfo::time_deleted},
    {"softDeleteTime", &ObjectInfo::soft_delete_time},
    {"hardDeleteTime", &ObjectInfo::hard_delete_time},
};

constexpr TextField kPrivateTexts[] = {
    {"acl", &ObjectInfo::acl},
    {"keySha256", &ObjectInfo::customer_key_sha256},
};

Json ToJson(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key] = value;
  return json;
}

std::map<std::string, std::string> MapOf(const Json& json, std::string_view name) {
  std::map<std::string, std::string> map;
  const Json* found = Member(json, name);
  if (found == nullptr || !found->is_object()) return map;
  for (const auto& [key, value] : found->items()) {
    if (value.is_string()) map[key] = value.get<std::string>();
  }
  return map;
}

// A record that cannot be read counts as empty: the side store may be deleted at any time.
Json Parsed(std::string_view text) {
  auto json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json::object();
}

}  // namespace

std::string ObjectRecordText(const ObjectInfo& info) {
  Json json = Json::object();
  for (const TextField& field : kTextFields) {
    if (!(info.*field.member).empty()) json[field.name] = info.*field.member;
  }
  json["metageneration"] = info.metageneration;
  if (info.revision > 0) json["revision"] = info.revision;
  json["timeCreated"] = Nanoseconds(info.time_created);
  json["updated"] = Nanoseconds(info.updated);
  if (info.component_count > 0) json["componentCount"] = info.component_count;
  for (const FlagField& flag : kFlagFields) {
    if (flag.IsShown(info)) json[flag.name] = info.*flag.member;
  }
  for (const TimeField& time : kTimeFields) {
    if (info.*time.member) json[time.name] = Nanoseconds(*(info.*time.member));
  }
  for (const auto& fields : {std::span<const TextField>(kJsonFields), {kPrivateTexts}}) {
    for (const TextField& field : fields) {
      if (!(info.*field.member).empty()) json[field.name] = info.*field.member;
    }
  }
  const Instant epoch;
  if (info.retained_since != epoch) json["retainedSince"] = Nanoseconds(info.retained_since);
  if (!info.metadata.empty()) json["metadata"] = ToJson(info.metadata);
  return CompactJson(json);
}

ObjectInfo ObjectFromRecordText(std::string_view text) {
  const Json json = Parsed(text);
  ObjectInfo info;
  for (const TextField& field : kTextFields) info.*field.member = StringOr(json, field.name);
  info.metageneration = IntOr(json, "metageneration", 1);
  info.revision = IntOr(json, "revision", 0);
  info.time_created = InstantOf(json, "timeCreated");
  info.updated = InstantOf(json, "updated");
  info.component_count = static_cast<int>(IntOr(json, "componentCount", 0));
  for (const FlagField& flag : kFlagFields) {
    const Json* value = Member(json, flag.name);
    if (value != nullptr) flag.Set(*value == true, &info);
  }
  for (const TimeField& time : kTimeFields) {
    if (Member(json, time.name)) info.*time.member = InstantOf(json, time.name);
  }
  for (const auto& fields : {std::span<const TextField>(kJsonFields), {kPrivateTexts}}) {
    for (const TextField& field : fields) info.*field.member = StringOr(json, field.name);
  }
  info.retained_since = InstantOf(json, "retainedSince");
  info.metadata = MapOf(json, "metadata");
  return info;
}

std::string CommitNoteText(const ObjectRecord& record) {
  const ObjectInfo& info = record.info;
  const Json json = {{"bucket", info.bucket},
                     {"name", info.name},
                     {"md5", Base64(info.md5)},
                     {"crc32c", info.crc32c},
                     {"record", ObjectRecordText(info)},
                     {"inode", record.file.inode},
                     {"modified", record.file.modified_ns},
                     {"size", record.file.size}};
  return std::to_string(info.generation) + " " + CompactJson(json);
}

std::optional<ObjectRecord> RecordOfCommitNote(std::string_view note) {
  const size_t space = note.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto json = ParseJson(note.substr(space + 1));
  if (!json.ok() || !json->is_object()) return std::nullopt;
  ObjectRecord record;
  record.info = ObjectFromRecordText(StringOr(*json, "record"));
  record.info.bucket = StringOr(*json, "bucket");
  record.info.name = StringOr(*json, "name");
  record.info.generation = std::strtoll(std::string(note.substr(0, space)).c_str(), nullptr, 10);
  record.info.md5 = FromBase64(StringOr(*json, "md5")).value_or("");
  record.info.crc32c = static_cast<uint32_t>(IntOr(*json, "crc32c", 0));
  record.file = {static_cast<uint64_t>(IntOr(*json, "inode", 0)), IntOr(*json, "modified", 0),
                 static_cast<uint64_t>(IntOr(*json, "size", 0))};
  record.info.size = record.file.size;
  record.hashed = true;
  return record;
}

std::string BucketRecordText(const Bucket& bucket) {
  Json json = {{"location", bucket.location},
               {"storageClass", bucket.storage_class},
               {"timeCreated", Nanoseconds(bucket.time_created)},
               {"updated", Nanoseconds(bucket.updated)},
               {"metageneration", bucket.metageneration}};
  if (bucket.revision > 0) json["revision"] = bucket.revision;
  if (!bucket.labels.empty()) json["labels"] = ToJson(bucket.labels);
  if (!bucket.project.empty()) json["project"] = bucket.project;
  if (!bucket.settings.empty()) json["settings"] = bucket.settings;
  if (!bucket.policies.empty()) json["policies"] = bucket.policies;
  return CompactJson(json);
}

Bucket BucketFromRecordText(std::string_view text) {
  const Json json = Parsed(text);
  Bucket bucket;
  bucket.location = StringOr(json, "location", bucket.location);
  bucket.storage_class = StringOr(json, "storageClass", bucket.storage_class);
  bucket.time_created = InstantOf(json, "timeCreated");
  bucket.updated = InstantOf(json, "updated");
  bucket.metageneration = IntOr(json, "metageneration", 1);
  bucket.revision = IntOr(json, "revision", 0);
  bucket.labels = MapOf(json, "labels");
  bucket.project = StringOr(json, "project");
  bucket.settings = StringOr(json, "settings");
  bucket.policies = StringOr(json, "policies");
  return bucket;
}

RecordPtr RecordCache::Find(const std::string& bucket, const std::string& name) {
  std::string key = KeyOf(bucket, name);
  if (const auto at = young_.find(key); at != young_.end()) return at->second;
  const auto at = old_.find(key);
  if (at == old_.end()) return nullptr;
  RecordPtr record = std::move(at->second);
  old_.erase(at);
  return Add(std::move(key), std::move(record));
}

void RecordCache::Put(RecordPtr record) {
  std::string key = KeyOf(record->info.bucket, record->info.name);
  old_.erase(key);
  Add(std::move(key), std::move(record));
}

void RecordCache::Forget(const std::string& bucket, const std::string& name) {
  const std::string key = KeyOf(bucket, name);
  young_.erase(key);
  old_.erase(key);
}

void RecordCache::Clear() {
  young_.clear();
  old_.clear();
}

RecordPtr RecordCache::Add(std::string key, RecordPtr record) {
  if (young_.size() >= generation_size_ && !young_.contains(key)) {
    old_ = std::exchange(young_, {});
  }
  return young_.insert_or_assign(std::move(key), std::move(record)).first->second;
}

}  // namespace caip::gcs
