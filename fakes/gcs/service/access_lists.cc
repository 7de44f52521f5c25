#include "fakes/gcs/service/access_lists.h"

#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/bucket_settings.h"
#include "fakes/gcs/store/bucket_rules.h"

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

AccessEntries KeptEntries(const Json& list) {
  AccessEntries entries;
  for (const Json& entry : list) {
    entries.push_back({StringOr(entry, "entity"), StringOr(entry, "role")});
  }
  return entries;
}

AccessEntries KeptWithBucket(const Bucket& bucket, const char* list) {
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, list);
  return kept != nullptr ? KeptEntries(*kept) : ProjectPrivate();
}

void KeepWithBucket(const AccessEntries& entries, const char* list, Bucket* bucket) {
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

AccessEntries BucketEntries(const Bucket& bucket) { return KeptWithBucket(bucket, kBucketList); }

AccessEntries NewObjectEntries(const Bucket& bucket) {
  return KeptWithBucket(bucket, kNewObjectList);
}

AccessEntries ObjectEntries(const Bucket& bucket, const ObjectInfo& info) {
  const auto own = ParseJson(info.acl);
  return own.ok() && own->is_array() ? KeptEntries(*own) : NewObjectEntries(bucket);
}

void SetBucketEntries(const AccessEntries& entries, Bucket* bucket) {
  KeepWithBucket(entries, kBucketList, bucket);
}

void SetNewObjectEntries(const AccessEntries& entries, Bucket* bucket) {
  KeepWithBucket(entries, kNewObjectList, bucket);
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
  AccessEntries entries = KeptEntries(list);
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
  return errors::ParameterInvalid("predefinedAcl", name, "it is none of the service's lists");
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

}  // namespace caip::gcs
