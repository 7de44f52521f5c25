#include <algorithm>

#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/json/bucket_json.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/upload.h"
#include "fakes/gcs/store/bucket_rules.h"
#include "fakes/gcs/store/preconditions.h"

namespace caip::gcs {
namespace {

constexpr int64_t kPageMax = 1000;
constexpr int kUpdateTries = 10;

bool IsFull(const Request& request) { return request.Query("projection") == "full"; }

// Whether the request's ifMetageneration... conditions hold.
Status CheckBucketConditions(const Request& request, const Bucket& bucket) {
  ASSIGN_OR_RETURN(const Preconditions asked, PreconditionsOf(request));
  ObjectInfo as_object;
  as_object.metageneration = bucket.metageneration;
  return CheckPreconditions({.if_metageneration_match = asked.if_metageneration_match,
                             .if_metageneration_not_match = asked.if_metageneration_not_match},
                            &as_object);
}

// predefinedAcl and predefinedDefaultObjectAcl. With uniform access there are no lists to set, and
// clients that send the parameter anyway (rclone) mean nothing by it.
Status ApplyPredefined(const Request& request, Bucket* bucket) {
  if (RulesOf(*bucket).uniform_access) return Ok{};
  Json policies = PoliciesOf(*bucket);
  for (const auto& [parameter, list] :
       {std::pair("predefinedAcl", "acl"),
        std::pair("predefinedDefaultObjectAcl", "defaultObjectAcl")}) {
    if (!request.HasQuery(parameter)) continue;
    ASSIGN_OR_RETURN(policies[list], PredefinedAcl(request.Query(parameter)));
  }
  SetPolicies(policies, bucket);
  return Ok{};
}

}  // namespace

Result<Bucket> ChangeBucket(StorageApi& api, const Request& request, const std::string& name,
                            const std::function<Status(Bucket*)>& change, bool counts) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(Bucket bucket, api.store.GetBucket(name));
    RETURN_IF_ERROR(CheckBucketConditions(request, bucket));
    RETURN_IF_ERROR(change(&bucket));
    if (counts) ++bucket.metageneration;
    auto updated = api.store.UpdateBucket(bucket);
    const bool raced = !updated.ok() && updated.error().code == Code::kAborted;
    if (!raced || tries == kUpdateTries) return updated;
  }
}

// GET /b. The token is the last name of the page before. A bucket that was made by hand, or for no
// project, is everybody's.
Result<Response> ListBuckets(StorageApi& api, const Request& request, const PathParameters&) {
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, "maxResults"));
  const int64_t limit = std::clamp(wanted.value_or(kPageMax), int64_t{1}, kPageMax);
  const std::string after(request.Query("pageToken"));
  const std::string_view project = request.Query("project");
  Json items = Json::array();
  Json page = {{"kind", "storage#buckets"}};
  std::string last;
  for (const Bucket& bucket : api.store.ListBuckets()) {
    if (bucket.name <= after || !bucket.name.starts_with(request.Query("prefix"))) continue;
    if (!project.empty() && !bucket.project.empty() && bucket.project != project) continue;
    if (static_cast<int64_t>(items.size()) == limit) {
      page["nextPageToken"] = last;
      break;
    }
    last = bucket.name;
    items.push_back(BucketJson(bucket, BaseOf(request), IsFull(request)));
  }
  if (!items.empty()) page["items"] = std::move(items);
  return Rendered(page);
}

// POST /b
Result<Response> InsertBucket(StorageApi& api, const Request& request, const PathParameters&) {
  ASSIGN_OR_RETURN(Json resource, JsonBody(request));
  if (IsTrue(request.Query("enableObjectRetention")) && resource.is_object()) {
    resource["objectRetention"] = {{"mode", "Enabled"}};
  }
  Bucket wanted;
  wanted.name = StringOr(resource, "name");
  if (wanted.name.empty()) return errors::Required("name");
  wanted.project = std::string(request.Query("project"));
  RETURN_IF_ERROR(ApplyBucketFields(resource, &wanted));
  RETURN_IF_ERROR(ApplyPredefined(request, &wanted));
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.CreateBucket(wanted));
  return Rendered(BucketJson(bucket, BaseOf(request), IsFull(request)));
}

// GET /b/{bucket}
Result<Response> GetBucket(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  ASSIGN_OR_RETURN(const auto unless, IntParameter(request, "ifMetagenerationNotMatch"));
  if (unless && *unless == bucket.metageneration) {
    Response response;
    response.status = 304;
    response.headers.Add("ETag", EtagOf(bucket));
    return response;
  }
  RETURN_IF_ERROR(CheckBucketConditions(request, bucket));
  Response response = Rendered(BucketJson(bucket, BaseOf(request), IsFull(request)));
  response.headers.Add("ETag", EtagOf(bucket));
  return response;
}

// PATCH and PUT /b/{bucket}
Result<Response> PatchBucket(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(
      const Bucket bucket,
      ChangeBucket(api, request, path.At("bucket"), [&](Bucket* changed) -> Status {
        if (request.method == "PUT") ClearBucketFields(changed);
        RETURN_IF_ERROR(ApplyBucketFields(resource.is_null() ? Json::object() : resource, changed));
        return ApplyPredefined(request, changed);
      }));
  return Rendered(BucketJson(bucket, BaseOf(request), IsFull(request)));
}

// POST /b/{bucket}/lockRetentionPolicy
Result<Response> LockRetentionPolicy(StorageApi& api, const Request& request,
                                     const PathParameters& path) {
  if (!request.HasQuery("ifMetagenerationMatch")) return errors::Required("ifMetagenerationMatch");
  ASSIGN_OR_RETURN(const Bucket bucket,
                   ChangeBucket(api, request, path.At("bucket"), [](Bucket* changed) -> Status {
                     if (RulesOf(*changed).retention == Duration(0)) {
                       return errors::FieldInvalid("retentionPolicy", "there is none to lock");
                     }
                     auto settings = ParseJson(changed->settings);
                     (*settings)["retentionPolicy"]["isLocked"] = true;
                     changed->settings = CompactJson(*settings);
                     return Ok{};
                   }));
  return Rendered(BucketJson(bucket, BaseOf(request)));
}

// DELETE /b/{bucket}
Result<Response> DeleteBucket(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  RETURN_IF_ERROR(CheckBucketConditions(request, bucket));
  const Status deleted = api.store.DeleteBucket(bucket.name);
  if (!deleted.ok() && deleted.error().code == Code::kFailedPrecondition) {
    return errors::ToResponse(409, "conflict", deleted.error().message);  // not empty
  }
  RETURN_IF_ERROR(deleted);
  return NoContent();
}

// GET /b/{bucket}/storageLayout: `gcloud storage cp -r`, mv and rm -r do nothing without it.
Result<Response> GetStorageLayout(StorageApi& api, const Request&, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, api.store.GetBucket(path.At("bucket")));
  return Rendered(Json{{"kind", "storage#storageLayout"},
                       {"bucket", bucket.name},
                       {"location", bucket.location},
                       {"locationType", BucketJson(bucket, "")["locationType"]},
                       {"hierarchicalNamespace", {{"enabled", false}}}});
}

}  // namespace caip::gcs
