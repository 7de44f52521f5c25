
#include "fakes/gcs/service/access_lists.h"

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

constexpr const char* kRoles[] = {"OWNER", "WRITER", "READER"};
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

AccessEntries ParseEntries(const Json& list) {
  AccessEntries entries;
  for (const Json& entry : list) {
    entries.push_back({StringOr(entry, "entity"), StringOr(entry, "role")});
  }
  return entries;
}

AccessEntries WithProject(AccessEntries entries, const std::string& project_number) {
  for (AccessEntry& entry : entries) {
    std::string& entity = entry.entity;
    if (!entity.starts_with("project-") || !entity.ends_with(kOwnProject)) continue;
    entity.replace(entity.size() - kOwnProject.size() + 1, std::string::npos, project_number);
  }
  return entries;
}

AccessEntries StoredEntries(const Bucket& bucket, const char* list) {
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, list);
  return WithProject(kept != nullptr ? ParseEntries(*kept) : ProjectPrivate(),
                     bucket.project_number);
}

void StoreEntries(const AccessEntries& entries, const char* list, Bucket* bucket) {
  Json policies = PoliciesOf(*bucket);
  policies[list] = JsonOf(entries);
  SetPolicies(policies, bucket);
}

bool IsRole(std::string_view role) {
  for (const char* known : kRoles) {
    if (role == known) return true;
  }
  return false;
}

}  // namespace

AccessEntries BucketEntries(const Bucket& bucket) { return StoredEntries(bucket, kBucketList); }

AccessEntries NewObjectEntries(const Bucket& bucket) {
  return StoredEntries(bucket, kNewObjectList);
}

AccessEntries ObjectEntries(const Bucket& bucket, const ObjectInfo& info) {
  const auto own = ParseJson(info.acl);
  if (!own.ok() || !own->is_array()) return NewObjectEntries(bucket);
  return WithProject(ParseEntries(*own), bucket.project_number);
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

Status CheckEntry(const AccessEntry& entry) {
  if (entry.entity.empty()) return errors::Required("entity");
  if (IsRole(entry.role)) return Ok{};
  return errors::FieldInvalid("role", "expected OWNER, WRITER or READER");
}

Result<AccessEntries> EntriesFromJson(const Json& list) {
  if (!list.is_array()) return errors::FieldInvalid("acl", "expected a list");
  AccessEntries entries = ParseEntries(list);
  for (const AccessEntry& entry : entries) {
    RETURN_IF_ERROR(CheckEntry(entry));
  }
  return entries;
}

Result<AccessEntries> PredefinedEntries(std::string_view name) {
  const AccessEntry owner = {"project-owners-0", "OWNER"};
  if (name == "private" || name == "bucketOwnerRead" || name == "bucketOwnerFullControl") {
    return AccessEntries{owner};
  }
  if (name == "projectPrivate") return ProjectPrivate();
  if (name == "publicRead") return AccessEntries{owner, {"allUsers", "READER"}};
  if (name == "publicReadWrite") return AccessEntries{owner, {"allUsers", "WRITER"}};
  if (name == "authenticatedRead") return AccessEntries{owner, {"allAuthenticatedUsers", "READER"}};
  return errors::ParameterInvalid("predefinedAcl", name, "it is not the name of a predefined list");
}

Status ApplyPredefined(const std::optional<std::string>& acl,
                       const std::optional<std::string>& new_object_acl, Bucket* bucket) {
  if (RulesOf(*bucket).uniform_access) return Ok{};
  if (acl) {
    ASSIGN_OR_RETURN(const AccessEntries entries, PredefinedEntries(*acl));
    SetBucketEntries(entries, bucket);
  }
  if (new_object_acl) {
    ASSIGN_OR_RETURN(const AccessEntries entries, PredefinedEntries(*new_object_acl));
    SetNewObjectEntries(entries, bucket);
  }
  return Ok{};
}

// Access lists and IAM policies. The emulator stores and returns them but does not enforce them.

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
  if (!fresh.role.empty()) entries->push_back(fresh);
  return Ok{};
}

// The policy of a new bucket: its project's owners, editors and viewers have the roles that access
// lists would give them.
// https://cloud.google.com/storage/docs/access-control/iam-roles#legacy-roles
Json DefaultPolicy(const Bucket& bucket) {
  const std::string project = bucket.project.empty() ? bucket.project_number : bucket.project;
  const Json owners = Json::array({"projectEditor:" + project, "projectOwner:" + project});
  const Json viewers = Json::array({"projectViewer:" + project});
  Json bindings = Json::array();
  const auto bind = [&](const char* role, const Json& members) {
    bindings.push_back(Json{{"role", role}, {"members", members}});
  };
  bind("roles/storage.legacyBucketOwner", owners);
  bind("roles/storage.legacyBucketReader", viewers);
  if (RulesOf(bucket).uniform_access) {
    bind("roles/storage.legacyObjectOwner", owners);
    bind("roles/storage.legacyObjectReader", viewers);
  }
  return {{"bindings", std::move(bindings)}, {"version", 1}};
}

// A managed folder has no default policy.
Json PolicyWithEtag(const Bucket& bucket, const std::string& folder) {
  const Json policies = PoliciesOf(bucket);
  const Json* all = Member(policies, "iam");
  const Json* kept = all ? Member(*all, folder) : nullptr;
  Json policy = folder.empty() ? DefaultPolicy(bucket) : Json::object();
  if (kept != nullptr) policy = *kept;
  Hasher hasher;
  const Json* bindings = Member(policy, "bindings");
  hasher.Add(bindings ? CompactJson(*bindings) : "");
  policy["etag"] = Base64(hasher.Finish().md5);
  if (!policy.contains("version")) policy["version"] = 1;
  return policy;
}

Status CheckPolicy(const Json& policy) {
  const Json* bindings = Member(policy, "bindings");
  if (bindings == nullptr || bindings->is_null()) return Ok{};
  if (!bindings->is_array()) return errors::FieldInvalid("bindings", "expected a list");
  for (const Json& binding : *bindings) {
    const Json* members = Member(binding, "members");
    if (StringOr(binding, "role").empty() || members == nullptr || !members->is_array()) {
      return errors::FieldInvalid("bindings[]", "a binding needs a role and a list of members");
    }
  }
  return Ok{};
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

Status CheckPublicAccess(const Bucket& before, const Bucket& after) {
  const bool is_refused = RulesOf(after).public_access_prevented && NamesEveryone(after.policies) &&
                          !NamesEveryone(before.policies);
  return is_refused ? Status(errors::PublicAccessPrevented()) : Ok{};
}

Status StorageService::CheckPolicyPlace(const PolicyPlace& place) const {
  RETURN_IF_ERROR(GetBucket(place.bucket));
  if (!place.object.empty()) RETURN_IF_ERROR(store_.GetObject(place.bucket, place.object));
  return Ok{};
}

Result<Json> StorageService::GetIamPolicy(const PolicyPlace& place) const {
  RETURN_IF_ERROR(CheckPolicyPlace(place));
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(place.bucket));
  return PolicyWithEtag(bucket, place.folder);
}

Result<Json> StorageService::SetIamPolicy(const PolicyPlace& place, const Json& policy,
                                          const Preconditions& conditions) {
  RETURN_IF_ERROR(CheckPolicy(policy));
  RETURN_IF_ERROR(CheckPolicyPlace(place));
  const auto change = [&](Bucket* changed) -> Status {
    const std::string etag = StringOr(policy, "etag");
    if (!etag.empty() && etag != PolicyWithEtag(*changed, place.folder)["etag"]) {
      return errors::EtagChanged();
    }
    Json policies = PoliciesOf(*changed);
    Json& kept = policies["iam"][place.folder];
    kept = Json::object();
    for (const char* name : {"bindings", "version"}) {
      if (policy.contains(name)) kept[name] = policy[name];
    }
    SetPolicies(policies, changed);
    return Ok{};
  };
  ASSIGN_OR_RETURN(const Bucket bucket, ChangeBucket(place.bucket, conditions, change));
  return PolicyWithEtag(bucket, place.folder);
}

}  // namespace caip::gcs
