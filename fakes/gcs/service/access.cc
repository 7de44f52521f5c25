// Access lists and IAM policies. The emulator stores and returns them but does not enforce them.
#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/bucket_settings.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_rules.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

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

Json DefaultPolicy() {
  const auto binding = [](const char* role, const char* member) {
    return Json{{"role", role}, {"members", Json::array({member})}};
  };
  return {
      {"bindings", Json::array({binding("roles/storage.legacyBucketOwner", "projectOwner:0"),
                                binding("roles/storage.legacyBucketReader", "projectViewer:0")})},
      {"version", 1}};
}

Json PolicyWithEtag(const Bucket& bucket, const std::string& folder) {
  const Json policies = PoliciesOf(bucket);
  const Json* all = Member(policies, "iam");
  const Json* kept = all ? Member(*all, folder) : nullptr;
  Json policy = kept ? *kept : DefaultPolicy();
  Hasher hasher;
  hasher.Add(CompactJson(policy["bindings"]));
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
  ASSIGN_OR_RETURN(list.bucket, store_.GetBucket(place.object.bucket));
  if (RulesOf(list.bucket).uniform_access) return errors::UniformAccess(list.bucket.name);
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
  ASSIGN_OR_RETURN(const Bucket bucket, store_.GetBucket(place.object.bucket));
  if (RulesOf(bucket).uniform_access) return errors::UniformAccess(bucket.name);
  if (place.kind == AccessListKind::kObject) {
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

Status StorageService::CheckPolicyPlace(const PolicyPlace& place) const {
  RETURN_IF_ERROR(store_.GetBucket(place.bucket));
  if (!place.object.empty()) RETURN_IF_ERROR(store_.GetObject(place.bucket, place.object));
  return Ok{};
}

Result<Json> StorageService::GetIamPolicy(const PolicyPlace& place) const {
  RETURN_IF_ERROR(CheckPolicyPlace(place));
  ASSIGN_OR_RETURN(const Bucket bucket, store_.GetBucket(place.bucket));
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
