
#include "fakes/gcs/service/access_lists.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/quoting.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_fields.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {
namespace {

constexpr size_t kEntityShownMax = 100;
constexpr const char* kBucketList = "acl";
constexpr const char* kNewObjectList = "defaultObjectAcl";

AccessEntries ProjectPrivate() {
  return {{"project-owners-0", "OWNER"},
          {"project-editors-0", "OWNER"},
          {"project-viewers-0", "READER"}};
}

Json JsonOf(const AccessEntries& entries) {
  Json list = Json::array();
  for (const auto& [entity, role] : entries) {
    list.push_back(Json{{"entity", entity}, {"role", role}});
  }
  return list;
}

// The bucket's own project, in a stored list.
constexpr std::string_view kOwnProject = "-0";

AccessEntries WithProject(AccessEntries entries, const std::string& project_number) {
  for (AccessEntry& entry : entries) {
    std::string& entity = entry.entity;
    if (!entity.starts_with("project-") || !entity.ends_with(kOwnProject)) continue;
    entity.replace(entity.size() - kOwnProject.size() + 1, std::string::npos, project_number);
  }
  return entries;
}

void StoreEntries(const AccessEntries& entries, const char* list, Bucket* bucket) {
  Json policies = PoliciesOf(*bucket);
  policies[list] = JsonOf(entries);
  SetPolicies(policies, bucket);
}

const ResourceMessage& EntryFields(AccessListKind kind) {
  return kind == AccessListKind::kBucket ? resource_fields::kBucketAccess
                                         : resource_fields::kObjectAccess;
}

// Leaves out what an earlier version stored unchecked.
AccessEntries ValidEntries(const Json& list, AccessListKind kind) {
  AccessEntries entries;
  for (const Json& entry : list) {
    Violations broken;
    const Json read = ReadMessage(entry, EntryFields(kind), "", &broken);
    if (broken.empty()) entries.push_back({StringOr(read, "entity"), StringOr(read, "role")});
  }
  return entries;
}

AccessEntries StoredEntries(const Bucket& bucket, const char* list, AccessListKind kind) {
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, list);
  return WithProject(kept != nullptr ? ValidEntries(*kept, kind) : ProjectPrivate(),
                     bucket.project_number);
}

// True for "project-owners-123", and so on.
bool IsProjectTeam(std::string_view entity) {
  for (const std::string_view team : {"owners-", "editors-", "viewers-"}) {
    if (entity.starts_with(team) && entity.size() > team.size()) return true;
  }
  return false;
}

Status CheckEntryCount(size_t count) {
  if (count <= resource_fields::kEntriesMax) return Ok{};
  return errors::TooManyEntries("entries", "an access control list", resource_fields::kEntriesMax);
}

}  // namespace

AccessEntries BucketEntries(const Bucket& bucket) {
  return StoredEntries(bucket, kBucketList, AccessListKind::kBucket);
}

AccessEntries NewObjectEntries(const Bucket& bucket) {
  return StoredEntries(bucket, kNewObjectList, AccessListKind::kNewObjects);
}

AccessEntries ObjectEntries(const Bucket& bucket, const ObjectInfo& info) {
  const auto own = ParseJson(info.acl);
  if (!own.ok() || !own->is_array()) return NewObjectEntries(bucket);
  return WithProject(ValidEntries(*own, AccessListKind::kObject), bucket.project_number);
}

void SetBucketEntries(const AccessEntries& entries, Bucket* bucket) {
  StoreEntries(entries, kBucketList, bucket);
}

void SetNewObjectEntries(const AccessEntries& entries, Bucket* bucket) {
  StoreEntries(entries, kNewObjectList, bucket);
}

void SetObjectEntries(const AccessEntries& entries, ObjectInfo* info) {
  info->acl = CompactJson(JsonOf(entries));
}

// https://cloud.google.com/storage/docs/json_api/v1/bucketAccessControls#resource
std::string EntityRule(std::string_view entity) {
  constexpr std::string_view kProject = "project-";
  if (entity == "allUsers" || entity == "allAuthenticatedUsers") return "";
  for (const std::string_view type : {"user-", "group-", "domain-"}) {
    if (entity.starts_with(type) && entity.size() > type.size()) return "";
  }
  if (entity.starts_with(kProject) && IsProjectTeam(entity.substr(kProject.size()))) return "";
  return Quoted(entity.substr(0, kEntityShownMax)) +
         " is not an entity; expected user-ID, user-EMAIL, group-ID, group-EMAIL, domain-DOMAIN, "
         "project-TEAM-NUMBER, allUsers or allAuthenticatedUsers";
}

Status CheckEntries(const AccessEntries& entries, AccessListKind kind) {
  RETURN_IF_ERROR(CheckEntryCount(entries.size()));
  Violations broken;
  ReadList(JsonOf(entries), resource_fields::ListOf(resource_fields::Of("acl", EntryFields(kind))),
           "acl", &broken);
  return broken.AsStatus();
}

// The entity may come from the path of the request. Its type in the body is checked all the same.
Result<AccessEntry> ReadEntry(const Json& body, AccessListKind kind) {
  ASSIGN_OR_RETURN(const Json read, ReadResource(body, EntryFields(kind)));
  return AccessEntry{StringOr(read, "entity"), StringOr(read, "role")};
}

AccessEntries EntriesFromJson(const Json& list) {
  AccessEntries entries;
  for (const Json& entry : list) {
    entries.push_back({StringOr(entry, "entity"), StringOr(entry, "role")});
  }
  return entries;
}

Result<AccessEntries> PredefinedEntries(std::string_view name, AccessListKind kind) {
  const AccessEntry owner = {"project-owners-0", "OWNER"};
  const bool of_bucket = kind == AccessListKind::kBucket;
  if (name == "private") return AccessEntries{owner};
  if (name == "projectPrivate") return ProjectPrivate();
  if (name == "publicRead") return AccessEntries{owner, {"allUsers", "READER"}};
  if (name == "authenticatedRead") return AccessEntries{owner, {"allAuthenticatedUsers", "READER"}};
  const bool names_owner = name == "bucketOwnerRead" || name == "bucketOwnerFullControl";
  if (names_owner && !of_bucket) return AccessEntries{owner};
  if (name == "publicReadWrite" && of_bucket) return AccessEntries{owner, {"allUsers", "WRITER"}};
  const char* parameter =
      kind == AccessListKind::kNewObjects ? "predefinedDefaultObjectAcl" : "predefinedAcl";
  const char* rule = "it is not the name of a predefined list";
  if (names_owner) rule = "only objects have this predefined list";
  if (name == "publicReadWrite") rule = "only buckets have this predefined list";
  return errors::ParameterInvalid(parameter, name, rule);
}

Status ApplyPredefined(const std::optional<std::string>& acl,
                       const std::optional<std::string>& new_object_acl, Bucket* bucket) {
  if (RulesOf(*bucket).uniform_access) return Ok{};
  if (acl) {
    ASSIGN_OR_RETURN(const AccessEntries entries, PredefinedEntries(*acl, AccessListKind::kBucket));
    SetBucketEntries(entries, bucket);
  }
  if (new_object_acl) {
    ASSIGN_OR_RETURN(const AccessEntries entries,
                     PredefinedEntries(*new_object_acl, AccessListKind::kNewObjects));
    SetNewObjectEntries(entries, bucket);
  }
  return Ok{};
}

namespace {

// True if the JSON text of access lists or policies names one of the groups of everyone.
bool NamesEveryone(std::string_view json) {
  return json.find("\"allUsers\"") != json.npos ||
         json.find("\"allAuthenticatedUsers\"") != json.npos;
}

// Removes the entity's entry, and adds the new one if it has a role.
Status ReplaceEntry(const AccessEntry& fresh, AccessEntries* entries) {
  const size_t removed = std::erase_if(
      *entries, [&](const AccessEntry& entry) { return entry.entity == fresh.entity; });
  if (fresh.role.empty() && removed == 0) {
    return errors::EntryNotFound("access control entry", fresh.entity);
  }
  if (fresh.role.empty()) return Ok{};
  entries->push_back(fresh);
  return CheckEntryCount(entries->size());
}

}  // namespace

Result<AccessList> StorageService::GetAccessList(const AccessListPlace& place) const {
  AccessList list;
  ASSIGN_OR_RETURN(list.bucket, GetBucket(place.object.bucket));
  const bool of_object = place.kind == AccessListKind::kObject;
  if (RulesOf(list.bucket).uniform_access) {
    return errors::UniformAccess(of_object ? errors::ListUse::kReadObject
                                           : errors::ListUse::kReadBucket);
  }
  switch (place.kind) {
    case AccessListKind::kBucket:
      list.entries = BucketEntries(list.bucket);
      break;
    case AccessListKind::kNewObjects:
      list.entries = NewObjectEntries(list.bucket);
      break;
    case AccessListKind::kObject:
      ASSIGN_OR_RETURN(list.object, GetObject(place.object, place.version));
      list.entries = ObjectEntries(list.bucket, *list.object);
      break;
  }
  return list;
}

Status StorageService::SetAccessEntry(const AccessListPlace& place, const Preconditions& conditions,
                                      const AccessEntry& entry) {
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(place.object.bucket));
  const bool of_object = place.kind == AccessListKind::kObject;
  if (RulesOf(bucket).uniform_access) {
    return errors::UniformAccess(of_object ? errors::ListUse::kChangeObject
                                           : errors::ListUse::kChangeBucket);
  }
  if (of_object) {
    const auto change = [&](ObjectInfo* info) -> Status {
      AccessEntries entries = ObjectEntries(bucket, *info);
      RETURN_IF_ERROR(ReplaceEntry(entry, &entries));
      SetObjectEntries(entries, info);
      return Ok{};
    };
    RETURN_IF_ERROR(ChangeObject(place.object, place.version, conditions, change));
    return Ok{};
  }
  const bool of_bucket = place.kind == AccessListKind::kBucket;
  const auto change = [&](Bucket* changed) -> Status {
    AccessEntries entries = of_bucket ? BucketEntries(*changed) : NewObjectEntries(*changed);
    RETURN_IF_ERROR(ReplaceEntry(entry, &entries));
    of_bucket ? SetBucketEntries(entries, changed) : SetNewObjectEntries(entries, changed);
    return Ok{};
  };
  RETURN_IF_ERROR(ChangeBucket(bucket.name, conditions, change));
  return Ok{};
}

Status StorageService::CheckObjectList(const ObjectInfo& info, errors::ListUse use) const {
  if (info.acl.empty()) return Ok{};
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(info.bucket));
  const BucketRules rules = RulesOf(bucket);
  if (rules.uniform_access) return errors::UniformAccess(use);
  if (rules.public_access_prevented && NamesEveryone(info.acl)) {
    return errors::PublicAccessPrevented();
  }
  return Ok{};
}

// https://cloud.google.com/storage/docs/object-lock: only in buckets that were created for it.
Status StorageService::CheckMayRetain(const ObjectInfo& info) const {
  if (info.retention.empty()) return Ok{};
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(info.bucket));
  return RulesOf(bucket).object_retention ? Status(Ok{}) : errors::RetentionNotEnabled(info.bucket);
}

Status StorageService::CheckNewObject(const ObjectInfo& info) const {
  RETURN_IF_ERROR(CheckMayRetain(info));
  return CheckObjectList(info, errors::ListUse::kInsertObject);
}

Status CheckPublicAccess(const Bucket& before, const Bucket& after) {
  const bool is_refused = RulesOf(after).public_access_prevented && NamesEveryone(after.policies) &&
                          !NamesEveryone(before.policies);
  return is_refused ? Status(errors::PublicAccessPrevented()) : Ok{};
}

}  // namespace caip::gcs
