#include <algorithm>

#include "base/json.h"
#include "fakes/gcs/api_methods.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/preconditions.h"
#include "fakes/gcs/upload.h"

namespace caip::gcs {
namespace {

constexpr int64_t kPageMax = 1000;

// The bucket, if the request's ifMetageneration... conditions hold for it.
Result<Bucket> BucketOf(StorageApi& api, const Request& request, const std::string& name) {
  ASSIGN_OR_RETURN(Bucket bucket, api.store.GetBucket(name));
  ASSIGN_OR_RETURN(const Preconditions preconditions, PreconditionsOf(request));
  ObjectInfo as_object;
  as_object.metageneration = bucket.metageneration;
  RETURN_IF_ERROR(
      CheckPreconditions({.if_metageneration_match = preconditions.if_metageneration_match,
                          .if_metageneration_not_match = preconditions.if_metageneration_not_match},
                         &as_object));
  return bucket;
}

}  // namespace

// GET /b. The token is the last name of the page before.
Result<Response> ListBuckets(StorageApi& api, const Request& request, const PathParameters&) {
  ASSIGN_OR_RETURN(const auto wanted, IntParameter(request, "maxResults"));
  const int64_t limit = std::clamp(wanted.value_or(kPageMax), int64_t{1}, kPageMax);
  const std::string after(request.Query("pageToken"));
  Json items = Json::array();
  Json page = {{"kind", "storage#buckets"}};
  std::string last;
  for (const Bucket& bucket : api.store.ListBuckets()) {
    if (bucket.name <= after || !bucket.name.starts_with(request.Query("prefix"))) continue;
    if (static_cast<int64_t>(items.size()) == limit) {
      page["nextPageToken"] = last;
      break;
    }
    last = bucket.name;
    items.push_back(BucketJson(bucket, BaseOf(request)));
  }
  if (!items.empty()) page["items"] = std::move(items);
  return Rendered(page);
}

// POST /b
Result<Response> InsertBucket(StorageApi& api, const Request& request, const PathParameters&) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  Bucket wanted;
  wanted.name = StringOr(resource, "name");
  if (wanted.name.empty()) return errors::FieldInvalid("name", "a bucket needs a name");
  RETURN_IF_ERROR(ApplyBucketFields(resource, &wanted));
  ASSIGN_OR_RETURN(Bucket bucket, api.store.CreateBucket(wanted.name));
  const Bucket defaults;
  if (wanted.location != defaults.location || wanted.storage_class != defaults.storage_class ||
      !wanted.labels.empty()) {
    ASSIGN_OR_RETURN(bucket, api.store.UpdateBucket(wanted));
  }
  return Rendered(BucketJson(bucket, BaseOf(request)));
}

// GET /b/{bucket}
Result<Response> GetBucket(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, BucketOf(api, request, path.At("bucket")));
  return Rendered(BucketJson(bucket, BaseOf(request)));
}

// PATCH and PUT /b/{bucket}
Result<Response> PatchBucket(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(Bucket bucket, BucketOf(api, request, path.At("bucket")));
  if (request.method == "PUT") bucket.labels.clear();
  RETURN_IF_ERROR(ApplyBucketFields(resource.is_null() ? Json::object() : resource, &bucket));
  ASSIGN_OR_RETURN(bucket, api.store.UpdateBucket(bucket));
  return Rendered(BucketJson(bucket, BaseOf(request)));
}

// DELETE /b/{bucket}
Result<Response> DeleteBucket(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, BucketOf(api, request, path.At("bucket")));
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
                       {"locationType", "region"},
                       {"hierarchicalNamespace", {{"enabled", false}}}});
}

// GET /b/{bucket}/managedFolders: there are none, but `gcloud storage rm -r gs://B` asks.
Result<Response> ListManagedFolders(StorageApi& api, const Request&, const PathParameters& path) {
  RETURN_IF_ERROR(api.store.GetBucket(path.At("bucket")));
  return Rendered(Json{{"kind", "storage#managedFolders"}});
}

}  // namespace caip::gcs
