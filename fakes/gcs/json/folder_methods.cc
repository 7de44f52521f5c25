// Managed folders: names that IAM policies hang on. Folders proper need a hierarchical namespace.

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/json/bucket_json.h"
#include "fakes/gcs/store/listing_page.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/store/preconditions.h"

namespace caip::gcs {
namespace {

constexpr const char* kManaged = "managedFolders";
constexpr int64_t kFolderMethodsPageMax = 1000;

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

// Whether an object, live or not, or another managed folder lies in the folder.
Result<bool> IsEmpty(const StorageApi& api, const Bucket& bucket, const std::string& name) {
  for (const std::string& other : ManagedFoldersOf(bucket)) {
    if (other != name && other.starts_with(name)) return false;
  }
  ListQuery query{.prefix = name, .max_results = 1, .versions = true};
  query.with_hashes = false;
  ASSIGN_OR_RETURN(const Listing listing, api.store.List(bucket.name, query));
  return listing.items.empty();
}

// The folder's own: its metageneration is 1 as long as it lives.
Status CheckFolderConditions(const Request& request) {
  ASSIGN_OR_RETURN(const Preconditions asked, PreconditionsOf(request));
  ObjectInfo as_object;
  as_object.metageneration = 1;
  return CheckPreconditions({.if_metageneration_match = asked.if_metageneration_match,
                             .if_metageneration_not_match = asked.if_metageneration_not_match},
                            &as_object);
}

}  // namespace

std::vector<std::string> ManagedFoldersOf(const Bucket& bucket) {
  std::vector<std::string> names;
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, kManaged);
  if (kept == nullptr) return names;
  for (const auto& [name, folder] : kept->items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

// GET /b/{bucket}/managedFolders
Result<Response> ListManagedFolders(StorageApi& api, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  Json page = {{"kind", "storage#managedFolders"}};
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, "maxResults"));
  const auto limit = static_cast<size_t>(
      std::clamp(wanted.value_or(kFolderMethodsPageMax), int64_t{1}, kFolderMethodsPageMax));
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(std::string(request.Query("pageToken"))));
  const Json policies = PoliciesOf(bucket);
  std::string last;
  for (const std::string& name : ManagedFoldersOf(bucket)) {
    if (!name.starts_with(request.Query("prefix")) || name < start.name) continue;
    if (page["items"].size() == limit) {
      page["nextPageToken"] = PageTokenAfter(last);
      break;
    }
    page["items"].push_back(
        FolderJson(bucket.name, name, *Member(policies[kManaged], name), BaseOf(request)));
    last = name;
  }
  if (page["items"].is_null()) page.erase("items");
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
                   ChangeBucket(
                       api, request, path.At("bucket"),
                       [&](Bucket* changed) -> Status {
                         Json policies = PoliciesOf(*changed);
                         if (policies[kManaged].contains(name)) {
                           return errors::EntryExists("managed folder", name);
                         }
                         policies[kManaged][name] = {{"createTime", Rfc3339(changed->updated, 3)}};
                         SetPolicies(policies, changed);
                         return Ok{};
                       },
                       false));
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
  RETURN_IF_ERROR(CheckFolderConditions(request));
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  ASSIGN_OR_RETURN(const bool is_empty, IsEmpty(api, bucket, name));
  const bool is_there = Member(PoliciesOf(bucket)[kManaged], name) != nullptr;
  if (is_there && !is_empty && !IsTrue(request.Query("allowNonEmpty"))) {
    return errors::ToResponse(409, "conflict", errors::FolderNotEmpty(name).message);
  }
  RETURN_IF_ERROR(ChangeBucket(
      api, {}, bucket.name,
      [&](Bucket* changed) -> Status {
        Json policies = PoliciesOf(*changed);
        if (policies[kManaged].is_null() || policies[kManaged].erase(name) == 0) {
          return errors::EntryNotFound("managed folder", name);
        }
        if (policies.contains("iam")) policies["iam"].erase(name);
        SetPolicies(policies, changed);
        return Ok{};
      },
      false));
  return NoContent();
}

// .../folders...
Result<Response> RefuseFolders(StorageApi& api, const Request&, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  return errors::FoldersNeedHierarchy(bucket.name);
}

}  // namespace caip::gcs
