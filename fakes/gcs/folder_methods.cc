// Managed folders: names that IAM policies hang on. Folders proper need a hierarchical namespace.
#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/api_methods.h"
#include "fakes/gcs/bucket_json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/names.h"

namespace caip::gcs {
namespace {

constexpr const char* kManaged = "managedFolders";

Json FolderJson(const std::string& bucket, const std::string& name, const Json& kept,
                const std::string& base) {
  return {
      {"kind", "storage#managedFolder"},
      {"id", bucket + "/" + name},
      {"selfLink", base + "/storage/v1/b/" + bucket + "/managedFolders/" + PercentEncoded(name)},
      {"name", name},
      {"bucket", bucket},
      {"metageneration", "1"},
      {"createTime", StringOr(kept, "createTime")},
      {"updateTime", StringOr(kept, "createTime")}};
}

}  // namespace

// GET /b/{bucket}/managedFolders
Result<Response> ListManagedFolders(StorageApi& api, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  Json page = {{"kind", "storage#managedFolders"}};
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, kManaged);
  if (kept == nullptr) return Rendered(page);
  std::map<std::string, Json> sorted;
  for (const auto& [name, folder] : kept->items()) sorted[name] = folder;
  for (const auto& [name, folder] : sorted) {
    if (!name.starts_with(request.Query("prefix"))) continue;
    page["items"].push_back(FolderJson(bucket.name, name, folder, BaseOf(request)));
  }
  return Rendered(page);
}

Result<Response> InsertManagedFolder(StorageApi& api, const Request& request,
                                     const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json wanted, JsonBody(request));
  std::string name = StringOr(wanted, "name");
  if (name.empty()) return errors::Required("name");
  if (!name.ends_with('/')) name += '/';
  if (const auto problem = ObjectNameProblem(name)) {
    return errors::ObjectNameInvalid(name, *problem);
  }
  ASSIGN_OR_RETURN(const Bucket bucket,
                   ChangeBucket(api, request, path.At("bucket"), [&](Bucket* changed) -> Status {
                     Json policies = PoliciesOf(*changed);
                     if (policies[kManaged].contains(name)) {
                       return errors::EntryExists("managed folder", name);
                     }
                     policies[kManaged][name] = {{"createTime", Rfc3339(changed->updated, 3)}};
                     SetPolicies(policies, changed);
                     return Ok{};
                   }));
  return Rendered(
      FolderJson(bucket.name, name, PoliciesOf(bucket)[kManaged][name], BaseOf(request)));
}

Result<Response> GetManagedFolder(StorageApi& api, const Request& request,
                                  const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  const Json policies = PoliciesOf(bucket);
  const Json* all = Member(policies, kManaged);
  const Json* found = all ? Member(*all, path.At("folder")) : nullptr;
  if (found == nullptr) return errors::EntryNotFound("managed folder", path.At("folder"));
  return Rendered(FolderJson(bucket.name, path.At("folder"), *found, BaseOf(request)));
}

Result<Response> DeleteManagedFolder(StorageApi& api, const Request& request,
                                     const PathParameters& path) {
  const std::string& name = path.At("folder");
  RETURN_IF_ERROR(ChangeBucket(api, request, path.At("bucket"), [&](Bucket* changed) -> Status {
    Json policies = PoliciesOf(*changed);
    if (policies[kManaged].is_null() || policies[kManaged].erase(name) == 0) {
      return errors::EntryNotFound("managed folder", name);
    }
    if (policies.contains("iam")) policies["iam"].erase(name);
    SetPolicies(policies, changed);
    return Ok{};
  }));
  return NoContent();
}

// .../folders...
Result<Response> RefuseFolders(StorageApi& api, const Request&, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  return errors::FoldersNeedHierarchy(bucket.name);
}

}  // namespace caip::gcs
