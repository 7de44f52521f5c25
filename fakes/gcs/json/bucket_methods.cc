
#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/json/resources.h"
#include "fakes/gcs/service/object_fields.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/listing.h"

namespace caip::gcs {
namespace {

constexpr size_t kBucketPageMax = 1000;

Response RenderedBucket(const Request& request, const Bucket& bucket) {
  return Rendered(BucketJson(bucket, request.BaseUrl(), WantsAcl(request)));
}

// The project of a list or of a new bucket. "_" stands for every project, as in the names of
// resources: a bucket that is created with it is in every list. An empty project does, too: gcsfs
// sends one unless it is configured.
Result<std::string> ProjectOf(const Request& request) {
  if (!request.HasQuery("project")) return errors::ParameterRequired("project");
  const std::string project(request.Query("project"));
  return project == "_" ? "" : project;
}

Status ApplyPredefinedLists(const Request& request, Bucket* bucket) {
  return ApplyPredefined(TextParameter(request, "predefinedAcl"),
                         TextParameter(request, "predefinedDefaultObjectAcl"), bucket);
}

}  // namespace

// GET /b. The token is the last name of the previous page.
Result<Response> ListBuckets(StorageService& service, const Request& request,
                             const PathParameters&) {
  ASSIGN_OR_RETURN(const size_t limit, PageSize(request, kBucketPageMax));
  ASSIGN_OR_RETURN(const std::string project, ProjectOf(request));
  const BucketQuery query = {project, std::string(request.Query("prefix")),
                             std::string(request.Query("pageToken")), limit};
  ASSIGN_OR_RETURN(const BucketPage page, service.ListBuckets(query));
  Json json = {{"kind", "storage#buckets"}};
  if (!page.next.empty()) json["nextPageToken"] = page.next;
  for (const Bucket& bucket : page.buckets) {
    json["items"].push_back(BucketJson(bucket, request.BaseUrl(), WantsAcl(request)));
  }
  return Rendered(json);
}

// POST /b
Result<Response> InsertBucket(StorageService& service, const Request& request,
                              const PathParameters&) {
  Bucket wanted;
  ASSIGN_OR_RETURN(wanted.project, ProjectOf(request));
  ASSIGN_OR_RETURN(Json resource, JsonBody(request));
  if (IsTrue(request.Query("enableObjectRetention")) && resource.is_object()) {
    resource["objectRetention"] = {{"mode", "Enabled"}};
  }
  wanted.name = StringOr(resource, "name");
  RETURN_IF_ERROR(ApplyNewBucketFields(resource.is_null() ? Json::object() : resource, &wanted));
  if (wanted.name.empty()) return errors::Required("name");
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
    const auto apply = request.method == "PUT" ? ReplaceBucketFields : ApplyBucketFields;
    RETURN_IF_ERROR(apply(resource.is_null() ? Json::object() : resource, changed));
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
  return Rendered(BucketJson(bucket, request.BaseUrl()));
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

// Notification configurations, managed folders and the service account. Real folders need a
// hierarchical namespace.

namespace {

constexpr size_t kFolderPageMax = 1000;

Json FolderJson(const std::string& bucket, const ManagedFolder& folder, const std::string& base) {
  const std::string& name = folder.name;
  return {
      {"kind", "storage#managedFolder"},
      {"id", bucket + "/" + name},
      {"selfLink", base + "/storage/v1/b/" + bucket + "/managedFolders/" + PercentEncoded(name)},
      {"name", name},
      {"bucket", bucket},
      {"metageneration", std::to_string(ManagedFolder::kMetageneration)},
      {"createTime", folder.create_time},
      {"updateTime", folder.update_time}};
}

ObjectName FolderAt(const PathParameters& path) {
  return {path.At("bucket"), FolderName(path.At("folder"))};
}

}  // namespace

// GET /b/{bucket}/notificationConfigs
Result<Response> ListNotifications(StorageService& service, const Request&,
                                   const PathParameters& path) {
  ASSIGN_OR_RETURN(const auto notifications, service.ListNotifications(path.At("bucket")));
  Json page = {{"kind", "storage#notifications"}};
  for (const Json& notification : notifications) page["items"].push_back(notification);
  return Rendered(page);
}

Result<Response> InsertNotification(StorageService& service, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json wanted, JsonBody(request));
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  const std::string& bucket = path.At("bucket");
  const std::string link = request.BaseUrl() + "/storage/v1/b/" + bucket + "/notificationConfigs/";
  ASSIGN_OR_RETURN(const Json made, service.InsertNotification(bucket, wanted, link, conditions));
  return Rendered(made);
}

Result<Response> GetNotification(StorageService& service, const Request&,
                                 const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json notification,
                   service.GetNotification(path.At("bucket"), path.At("notification")));
  return Rendered(notification);
}

Result<Response> DeleteNotification(StorageService& service, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  RETURN_IF_ERROR(
      service.DeleteNotification(path.At("bucket"), path.At("notification"), conditions));
  return NoContent();
}

// GET /projects/{project}/serviceAccount
Result<Response> GetServiceAccount(StorageService& service, const Request&, const PathParameters&) {
  return Rendered(Json{{"kind", "storage#serviceAccount"},
                       {"email_address", "service-" + service.project_number() +
                                             "@gs-project-accounts.iam.gserviceaccount.com"}});
}

// GET /b/{bucket}/managedFolders
Result<Response> ListManagedFolders(StorageService& service, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(auto folders, service.ListManagedFolders(path.At("bucket")));
  ASSIGN_OR_RETURN(const size_t limit, PageSize(request, kFolderPageMax, "pageSize"));
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(std::string(request.Query("pageToken"))));
  std::erase_if(folders, [&](const ManagedFolder& folder) {
    return folder.name < start.name || !folder.name.starts_with(request.Query("prefix"));
  });
  Json page = {{"kind", "storage#managedFolders"}};
  if (folders.size() > limit) {
    folders.resize(limit);
    page["nextPageToken"] = PageTokenAfter(folders.back().name);
  }
  for (const ManagedFolder& folder : folders) {
    page["items"].push_back(FolderJson(path.At("bucket"), folder, request.BaseUrl()));
  }
  return Rendered(page);
}

Result<Response> InsertManagedFolder(StorageService& service, const Request& request,
                                     const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  ASSIGN_OR_RETURN(const Json wanted, ReadResource(body, resource_fields::kManagedFolder));
  const std::string name = FolderName(StringOr(wanted, "name"));
  const ObjectName place{path.At("bucket"), name};
  ASSIGN_OR_RETURN(const ManagedFolder folder, service.InsertManagedFolder(place));
  return Rendered(FolderJson(place.bucket, folder, request.BaseUrl()));
}

Result<Response> GetManagedFolder(StorageService& service, const Request& request,
                                  const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const ManagedFolder folder, service.GetManagedFolder(FolderAt(path)));
  const auto unless = conditions.if_metageneration_not_match;
  if (unless && *unless == ManagedFolder::kMetageneration) return NotModified("");
  RETURN_IF_ERROR(CheckMetagenerationConditions(conditions, ManagedFolder::kMetageneration));
  return Rendered(FolderJson(path.At("bucket"), folder, request.BaseUrl()));
}

Result<Response> DeleteManagedFolder(StorageService& service, const Request& request,
                                     const PathParameters& path) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  RETURN_IF_ERROR(service.DeleteManagedFolder(FolderAt(path), conditions,
                                              IsTrue(request.Query("allowNonEmpty"))));
  return NoContent();
}

// .../folders...
Result<Response> RefuseFolders(StorageService& service, const Request&,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, service.GetBucket(path.At("bucket")));
  return errors::FoldersNeedHierarchy(bucket.name);
}

}  // namespace caip::gcs
