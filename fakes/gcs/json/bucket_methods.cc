#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/bucket_json.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/service/bucket_settings.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {
namespace {

constexpr size_t kBucketPageMax = 1000;

bool IsFull(const Request& request) { return request.Query("projection") == "full"; }

Response RenderedBucket(const Request& request, const Bucket& bucket) {
  return Rendered(BucketJson(bucket, BaseOf(request), IsFull(request)));
}

Status ApplyPredefinedLists(const Request& request, Bucket* bucket) {
  return ApplyPredefined(TextParameter(request, "predefinedAcl"),
                         TextParameter(request, "predefinedDefaultObjectAcl"), bucket);
}

}  // namespace

// GET /b. The token is the last name of the page before.
Result<Response> ListBuckets(StorageService& service, const Request& request,
                             const PathParameters&) {
  ASSIGN_OR_RETURN(const size_t limit, PageSize(request, kBucketPageMax));
  const BucketPage page = service.ListBuckets({std::string(request.Query("project")),
                                               std::string(request.Query("prefix")),
                                               std::string(request.Query("pageToken")), limit});
  Json json = {{"kind", "storage#buckets"}};
  if (!page.next.empty()) json["nextPageToken"] = page.next;
  for (const Bucket& bucket : page.buckets) {
    json["items"].push_back(BucketJson(bucket, BaseOf(request), IsFull(request)));
  }
  return Rendered(json);
}

// POST /b
Result<Response> InsertBucket(StorageService& service, const Request& request,
                              const PathParameters&) {
  ASSIGN_OR_RETURN(Json resource, JsonBody(request));
  if (IsTrue(request.Query("enableObjectRetention")) && resource.is_object()) {
    resource["objectRetention"] = {{"mode", "Enabled"}};
  }
  Bucket wanted;
  wanted.name = StringOr(resource, "name");
  if (wanted.name.empty()) return errors::Required("name");
  wanted.project = std::string(request.Query("project"));
  RETURN_IF_ERROR(ApplyBucketFields(resource, &wanted));
  RETURN_IF_ERROR(ApplyPredefinedLists(request, &wanted));
  ASSIGN_OR_RETURN(const Bucket bucket, service.CreateBucket(wanted));
  return RenderedBucket(request, bucket);
}

// GET /b/{bucket}
Result<Response> GetBucket(StorageService& service, const Request& request,
                           const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Bucket bucket, service.GetBucket(path.At("bucket")));
  const auto unless = conditions.if_metageneration_not_match;
  if (unless && *unless == bucket.metageneration) return NotModified(EtagOf(bucket));
  RETURN_IF_ERROR(CheckMetagenerationConditions(conditions, bucket.metageneration));
  Response response = RenderedBucket(request, bucket);
  response.headers.Add("ETag", EtagOf(bucket));
  return response;
}

// PATCH and PUT /b/{bucket}
Result<Response> PatchBucket(StorageService& service, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  const auto change = [&](Bucket* changed) -> Status {
    if (request.method == "PUT") ClearBucketFields(changed);
    RETURN_IF_ERROR(ApplyBucketFields(resource.is_null() ? Json::object() : resource, changed));
    return ApplyPredefinedLists(request, changed);
  };
  ASSIGN_OR_RETURN(const Bucket bucket,
                   service.ChangeBucket(path.At("bucket"), conditions, change));
  return RenderedBucket(request, bucket);
}

// POST /b/{bucket}/lockRetentionPolicy
Result<Response> LockRetentionPolicy(StorageService& service, const Request& request,
                                     const PathParameters& path) {
  if (!request.HasQuery("ifMetagenerationMatch")) return errors::Required("ifMetagenerationMatch");
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const Bucket bucket, service.LockRetentionPolicy(path.At("bucket"), conditions));
  return Rendered(BucketJson(bucket, BaseOf(request)));
}

// DELETE /b/{bucket}
Result<Response> DeleteBucket(StorageService& service, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  RETURN_IF_ERROR(service.DeleteBucket(path.At("bucket"), conditions));
  return NoContent();
}

// GET /b/{bucket}/storageLayout: `gcloud storage cp -r`, mv and rm -r do nothing without it.
Result<Response> GetStorageLayout(StorageService& service, const Request&,
                                  const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, service.GetBucket(path.At("bucket")));
  return Rendered(Json{{"kind", "storage#storageLayout"},
                       {"bucket", bucket.name},
                       {"location", bucket.location},
                       {"locationType", BucketJson(bucket, "")["locationType"]},
                       {"hierarchicalNamespace", {{"enabled", false}}}});
}

}  // namespace caip::gcs
