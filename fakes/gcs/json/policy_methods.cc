// IAM policies, notifications and the service account: kept and given back, never asked.
#include "base/encoding.h"
#include "base/json.h"

#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/json/bucket_json.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

// A policy belongs to the bucket, or to one of its managed folders.
std::string PolicyKey(const PathParameters& path) {
  return path.At("folder").empty() ? "" : path.At("folder");
}

std::string ResourceId(const PathParameters& path) {
  std::string id = "projects/_/buckets/" + path.At("bucket");
  if (!path.At("object").empty()) id += "/objects/" + path.At("object");
  if (!path.At("folder").empty()) id += "/managedFolders/" + path.At("folder");
  return id;
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

Json PolicyOf(const Bucket& bucket, const PathParameters& path) {
  const Json policies = PoliciesOf(bucket);
  const Json* all = Member(policies, "iam");
  const Json* kept = all ? Member(*all, PolicyKey(path)) : nullptr;
  Json policy = kept ? *kept : DefaultPolicy();
  policy["kind"] = "storage#policy";
  policy["resourceId"] = ResourceId(path);
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

Status CheckResource(StorageApi& api, const PathParameters& path) {
  if (path.At("object").empty()) return Ok{};
  RETURN_IF_ERROR(api.store.GetObject(path.At("bucket"), path.At("object")));
  return Ok{};
}

}  // namespace

// GET .../iam
Result<Response> GetIamPolicy(StorageApi& api, const Request&, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  RETURN_IF_ERROR(CheckResource(api, path));
  return Rendered(PolicyOf(bucket, path));
}

// PUT .../iam. An etag that is not the current one: somebody else was faster.
Result<Response> SetIamPolicy(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(Json policy, JsonBody(request));
  if (policy.is_null()) policy = Json::object();
  RETURN_IF_ERROR(CheckPolicy(policy));
  RETURN_IF_ERROR(CheckResource(api, path));
  ASSIGN_OR_RETURN(const Bucket bucket,
                   ChangeBucket(api, request, path.At("bucket"), [&](Bucket* changed) -> Status {
                     const std::string etag = StringOr(policy, "etag");
                     if (!etag.empty() && etag != PolicyOf(*changed, path)["etag"]) {
                       return errors::EtagChanged();
                     }
                     Json policies = PoliciesOf(*changed);
                     Json& kept = policies["iam"][PolicyKey(path)];
                     kept = Json::object();
                     for (const char* name : {"bindings", "version"}) {
                       if (policy.contains(name)) kept[name] = policy[name];
                     }
                     SetPolicies(policies, changed);
                     return Ok{};
                   }));
  return Rendered(PolicyOf(bucket, path));
}

// GET .../iam/testPermissions: whoever asks may do everything.
Result<Response> TestIamPermissions(StorageApi& api, const Request& request,
                                    const PathParameters& path) {
  RETURN_IF_ERROR(api.store.GetBucket(path.At("bucket")));
  RETURN_IF_ERROR(CheckResource(api, path));
  Json held = Json::array();
  for (const auto& [name, value] : request.query) {
    if (name == "permissions") held.push_back(value);
  }
  if (held.empty()) return errors::Required("permissions");
  return Rendered(Json{{"kind", "storage#testIamPermissionsResponse"}, {"permissions", held}});
}

// GET /b/{bucket}/notificationConfigs. Nothing is ever published.
Result<Response> ListNotifications(StorageApi& api, const Request&, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  Json page = {{"kind", "storage#notifications"}};
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, "notifications");
  if (kept == nullptr) return Rendered(page);
  for (const auto& [id, notification] : kept->items()) page["items"].push_back(notification);
  return Rendered(page);
}

Result<Response> InsertNotification(StorageApi& api, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(Json wanted, JsonBody(request));
  if (StringOr(wanted, "topic").empty()) return errors::Required("topic");
  if (StringOr(wanted, "payload_format").empty()) return errors::Required("payload_format");
  const std::string base = BaseOf(request);
  RETURN_IF_ERROR(ChangeBucket(
      api, request, path.At("bucket"),
      [&](Bucket* changed) -> Status {
        Json policies = PoliciesOf(*changed);
        const long long number = IntOr(policies, "lastNotification", 0) + 1;
        const std::string id = std::to_string(number);
        wanted["kind"] = "storage#notification";
        wanted["id"] = id;
        wanted["etag"] = id;
        wanted["selfLink"] = base + "/storage/v1/b/" + changed->name + "/notificationConfigs/" + id;
        policies["lastNotification"] = number;
        policies["notifications"][id] = wanted;
        SetPolicies(policies, changed);
        return Ok{};
      },
      false));
  return Rendered(wanted);
}

Result<Response> GetNotification(StorageApi& api, const Request&, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  const Json policies = PoliciesOf(bucket);
  const Json* all = Member(policies, "notifications");
  const Json* found = all ? Member(*all, path.At("notification")) : nullptr;
  if (found == nullptr) return errors::EntryNotFound("notification", path.At("notification"));
  return Rendered(*found);
}

Result<Response> DeleteNotification(StorageApi& api, const Request& request,
                                    const PathParameters& path) {
  RETURN_IF_ERROR(ChangeBucket(
      api, request, path.At("bucket"),
      [&](Bucket* changed) -> Status {
        Json policies = PoliciesOf(*changed);
        if (policies["notifications"].is_null() ||
            policies["notifications"].erase(path.At("notification")) == 0) {
          return errors::EntryNotFound("notification", path.At("notification"));
        }
        SetPolicies(policies, changed);
        return Ok{};
      },
      false));
  return NoContent();
}

// GET /projects/{project}/serviceAccount
Result<Response> GetServiceAccount(StorageApi&, const Request&, const PathParameters& path) {
  return Rendered(Json{{"kind", "storage#serviceAccount"},
                       {"email_address", "service-" + path.At("project") +
                                             "@gs-project-accounts.iam.gserviceaccount.com"}});
}

}  // namespace caip::gcs
