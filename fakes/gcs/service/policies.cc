// IAM policies of buckets, managed folders and objects. The emulator stores and returns them but
// does not enforce them.

#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/iam_policies.h"
#include "fakes/gcs/service/object_policies.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

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

Json WithEtag(Json policy) {
  Hasher hasher;
  const Json* bindings = Member(policy, "bindings");
  hasher.Add(bindings ? CompactJson(*bindings) : "");
  policy["etag"] = Base64(hasher.Finish().md5);
  if (!policy.contains("version")) policy["version"] = 1;
  return policy;
}

// A managed folder has no default policy.
Json PolicyOf(const Bucket& bucket, const std::string& folder) {
  const Json policies = PoliciesOf(bucket);
  const Json* all = Member(policies, "iam");
  const Json* kept = all ? Member(*all, folder) : nullptr;
  if (kept != nullptr) return WithEtag(ReadablePolicy(*kept));
  return WithEtag(folder.empty() ? DefaultPolicy(bucket) : Json::object());
}

// An etag is bytes. gcloud sends it back in the other alphabet of base64, with - and _.
Status CheckEtag(const Json& wanted, const Json& current) {
  const std::string etag = StringOr(wanted, "etag");
  if (etag.empty() || FromBase64(etag) == FromBase64(StringOr(current, "etag"))) return Ok{};
  return errors::EtagChanged();
}

void StorePolicy(const Json& policy, const std::string& folder, Bucket* bucket) {
  Json policies = PoliciesOf(*bucket);
  Json& kept = policies["iam"][folder];
  kept = Json::object();
  for (const char* name : {"bindings", "version"}) {
    const Json* value = Member(policy, name);
    if (value != nullptr && !value->is_null()) kept[name] = *value;
  }
  SetPolicies(policies, bucket);
}

// The updateTime of a managed folder is that of its last policy.
// https://cloud.google.com/storage/docs/json_api/v1/managedFolder#resource-representations
Status StoreFolderPolicy(const Json& policy, const std::string& folder, Instant now,
                         Bucket* bucket) {
  Json policies = PoliciesOf(*bucket);
  Json& folders = policies["managedFolders"];
  if (!folders.is_object() || !folders.contains(folder)) {
    return errors::EntryNotFound("managed folder", folder);
  }
  folders[folder]["updateTime"] = Rfc3339(now, 3);
  SetPolicies(policies, bucket);
  StorePolicy(policy, folder, bucket);
  return Ok{};
}

}  // namespace

Status StorageService::CheckPolicyPlace(const PolicyPlace& place) const {
  RETURN_IF_ERROR(GetBucket(place.bucket));
  if (!place.folder.empty()) RETURN_IF_ERROR(GetManagedFolder({place.bucket, place.folder}));
  if (!place.object.empty()) {
    RETURN_IF_ERROR(GetObject({place.bucket, place.object}, place.version));
  }
  return Ok{};
}

Result<Json> StorageService::GetObjectPolicy(const PolicyPlace& place) const {
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(place.bucket));
  ASSIGN_OR_RETURN(const ObjectInfo info, GetObject({place.bucket, place.object}, place.version));
  if (RulesOf(bucket).uniform_access) return errors::UniformAccess(errors::ListUse::kReadObject);
  return WithEtag(PolicyOfEntries(ObjectEntries(bucket, info), bucket));
}

Result<Json> StorageService::GetIamPolicy(const PolicyPlace& place) const {
  if (!place.object.empty()) return GetObjectPolicy(place);
  RETURN_IF_ERROR(CheckPolicyPlace(place));
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(place.bucket));
  return PolicyOf(bucket, place.folder);
}

Result<Json> StorageService::SetObjectPolicy(const PolicyPlace& place, const Json& policy,
                                             const Preconditions& conditions) {
  ASSIGN_OR_RETURN(const Bucket bucket, GetBucket(place.bucket));
  if (RulesOf(bucket).uniform_access) return errors::UniformAccess(errors::ListUse::kChangeObject);
  const auto change = [&](ObjectInfo* changed) -> Status {
    const Json current = WithEtag(PolicyOfEntries(ObjectEntries(bucket, *changed), bucket));
    RETURN_IF_ERROR(CheckEtag(policy, current));
    ASSIGN_OR_RETURN(const AccessEntries entries, EntriesOfPolicy(policy, bucket));
    SetObjectEntries(entries, changed);
    return Ok{};
  };
  const ObjectName object{place.bucket, place.object};
  ASSIGN_OR_RETURN(const ObjectInfo info, ChangeObject(object, place.version, conditions, change));
  return WithEtag(PolicyOfEntries(ObjectEntries(bucket, info), bucket));
}

Result<Json> StorageService::SetIamPolicy(const PolicyPlace& place, const Json& body,
                                          const Preconditions& conditions) {
  ASSIGN_OR_RETURN(const Json policy, ReadPolicy(body));
  if (!place.object.empty()) return SetObjectPolicy(place, policy, conditions);
  const bool of_bucket = place.folder.empty();
  RETURN_IF_ERROR(CheckPolicyPlace(place));
  const auto change = [&](Bucket* changed) -> Status {
    if (of_bucket) RETURN_IF_ERROR(CheckConditions(policy, *changed));
    RETURN_IF_ERROR(CheckConditionsVersion(policy));
    RETURN_IF_ERROR(CheckEtag(policy, PolicyOf(*changed, place.folder)));
    if (!of_bucket) return StoreFolderPolicy(policy, place.folder, store_.Now(), changed);
    StorePolicy(policy, "", changed);
    return Ok{};
  };
  const Preconditions of_change = of_bucket ? conditions : Preconditions{};
  ASSIGN_OR_RETURN(const Bucket bucket, ChangeBucket(place.bucket, of_change, change, of_bucket));
  return PolicyOf(bucket, place.folder);
}

}  // namespace caip::gcs
