#include "fakes/gcs/json_api.h"

#include "fakes/gcs/api_methods.h"
#include "fakes/gcs/batch.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

struct Served {
  const char* verb;
  const char* pattern;  // below /storage/v1 and its alias
  const char* id;
  Method method;
};

constexpr Served kServed[] = {
    {"GET", "/b", "storage.buckets.list", ListBuckets},
    {"POST", "/b", "storage.buckets.insert", InsertBucket},
    {"GET", "/b/{bucket}", "storage.buckets.get", GetBucket},
    {"PATCH", "/b/{bucket}", "storage.buckets.patch", PatchBucket},
    {"PUT", "/b/{bucket}", "storage.buckets.update", PatchBucket},
    {"DELETE", "/b/{bucket}", "storage.buckets.delete", DeleteBucket},
    {"GET", "/b/{bucket}/storageLayout", "storage.buckets.getStorageLayout", GetStorageLayout},
    {"GET", "/b/{bucket}/managedFolders", "storage.managedFolders.list", ListManagedFolders},
    {"GET", "/b/{bucket}/o", "storage.objects.list", ListObjects},
    {"POST", "/b/{bucket}/o", "storage.objects.insert", InsertObject},
    {"GET", "/b/{bucket}/o/{object}", "storage.objects.get", GetObject},
    {"PATCH", "/b/{bucket}/o/{object}", "storage.objects.patch", PatchObject},
    {"PUT", "/b/{bucket}/o/{object}", "storage.objects.update", UpdateObject},
    {"DELETE", "/b/{bucket}/o/{object}", "storage.objects.delete", DeleteObject},
    {"POST", "/b/{bucket}/o/{object}/compose", "storage.objects.compose", ComposeObject},
    {"POST", "/b/{bucket}/o/{object}/rewriteTo/b/{toBucket}/o/{toObject}",
     "storage.objects.rewrite", RewriteObject},
    {"POST", "/b/{bucket}/o/{object}/copyTo/b/{toBucket}/o/{toObject}", "storage.objects.copy",
     CopyObject},
};

// Uploads and downloads have paths of their own, with no alias.
constexpr Served kServedElsewhere[] = {
    {"POST", "/upload/storage/v1/b/{bucket}/o", "storage.objects.insert", InsertObject},
    {"PUT", "/upload/storage/v1/b/{bucket}/o", "storage.objects.insert", PutUploadSession},
    {"DELETE", "/upload/storage/v1/b/{bucket}/o", "storage.objects.insert", DeleteUploadSession},
    {"POST", "/resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.insert", InsertObject},
    {"PUT", "/resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.insert",
     PutUploadSession},
    {"DELETE", "/resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.insert",
     DeleteUploadSession},
    {"GET", "/download/storage/v1/b/{bucket}/o/{object}", "storage.objects.get", DownloadObject},
};

// What the service has beyond, for an honest 501.
constexpr Served kNotServed[] = {
    {"POST", "/b/{bucket}/restore", "storage.buckets.restore", nullptr},
    {"POST", "/b/{bucket}/relocate", "storage.buckets.relocate", nullptr},
    {"POST", "/b/{bucket}/lockRetentionPolicy", "storage.buckets.lockRetentionPolicy", nullptr},
    {"GET", "/b/{bucket}/iam", "storage.buckets.getIamPolicy", nullptr},
    {"PUT", "/b/{bucket}/iam", "storage.buckets.setIamPolicy", nullptr},
    {"GET", "/b/{bucket}/iam/testPermissions", "storage.buckets.testIamPermissions", nullptr},
    {"GET", "/b/{bucket}/acl", "storage.bucketAccessControls.list", nullptr},
    {"POST", "/b/{bucket}/acl", "storage.bucketAccessControls.insert", nullptr},
    {"GET", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.get", nullptr},
    {"PUT", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.update", nullptr},
    {"PATCH", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.patch", nullptr},
    {"DELETE", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.delete", nullptr},
    {"GET", "/b/{bucket}/defaultObjectAcl", "storage.defaultObjectAccessControls.list", nullptr},
    {"POST", "/b/{bucket}/defaultObjectAcl", "storage.defaultObjectAccessControls.insert", nullptr},
    {"GET", "/b/{bucket}/notificationConfigs", "storage.notifications.list", nullptr},
    {"POST", "/b/{bucket}/notificationConfigs", "storage.notifications.insert", nullptr},
    {"POST", "/b/{bucket}/managedFolders", "storage.managedFolders.insert", nullptr},
    {"GET", "/b/{bucket}/managedFolders/{folder}", "storage.managedFolders.get", nullptr},
    {"DELETE", "/b/{bucket}/managedFolders/{folder}", "storage.managedFolders.delete", nullptr},
    {"GET", "/b/{bucket}/folders", "storage.folders.list", nullptr},
    {"POST", "/b/{bucket}/folders", "storage.folders.insert", nullptr},
    {"GET", "/b/{bucket}/folders/{folder}", "storage.folders.get", nullptr},
    {"DELETE", "/b/{bucket}/folders/{folder}", "storage.folders.delete", nullptr},
    {"GET", "/b/{bucket}/anywhereCaches", "storage.anywhereCaches.list", nullptr},
    {"POST", "/b/{bucket}/o/watch", "storage.objects.watchAll", nullptr},
    {"POST", "/b/{bucket}/o/bulkRestore", "storage.objects.bulkRestore", nullptr},
    {"POST", "/b/{bucket}/o/{object}/restore", "storage.objects.restore", nullptr},
    {"POST", "/b/{bucket}/o/{object}/moveTo/o/{toObject}", "storage.objects.move", nullptr},
    {"GET", "/b/{bucket}/o/{object}/iam", "storage.objects.getIamPolicy", nullptr},
    {"PUT", "/b/{bucket}/o/{object}/iam", "storage.objects.setIamPolicy", nullptr},
    {"GET", "/b/{bucket}/o/{object}/acl", "storage.objectAccessControls.list", nullptr},
    {"POST", "/b/{bucket}/o/{object}/acl", "storage.objectAccessControls.insert", nullptr},
    {"GET", "/b/{bucket}/o/{object}/acl/{entity}", "storage.objectAccessControls.get", nullptr},
    {"GET", "/projects/{project}/serviceAccount", "storage.projects.serviceAccount.get", nullptr},
    {"POST", "/channels/stop", "storage.channels.stop", nullptr},
};

Result<Response> Call(const Served& served, StorageApi& api, const Request& request,
                      const PathParameters& path) {
  if (served.method == nullptr) return errors::NotImplemented(std::string("Method ") + served.id);
  return served.method(api, request, path);
}

http::Route RouteOf(const std::string& prefix, const Served& served,
                    const std::shared_ptr<StorageApi>& api) {
  const auto handler = [api, served](const Request& request, const PathParameters& path) {
    auto response = Call(served, *api, request, path);
    return response.ok() ? std::move(*response) : errors::ToResponse(response.error());
  };
  return {served.verb, prefix + served.pattern, served.id, handler};
}

}  // namespace

std::vector<http::Route> StorageRoutes(std::shared_ptr<StorageApi> api) {
  std::vector<http::Route> routes;
  for (const std::string prefix : {"/storage/v1", ""}) {
    for (const Served& served : kServed) routes.push_back(RouteOf(prefix, served, api));
    for (const Served& missing : kNotServed) {
      const bool ours = !prefix.empty() || std::string_view(missing.pattern).starts_with("/b/");
      if (ours) routes.push_back(RouteOf(prefix, missing, api));
    }
  }
  for (const Served& served : kServedElsewhere) routes.push_back(RouteOf("", served, api));
  routes.push_back(BatchRoute(routes));
  return routes;
}

bool IsStoragePath(std::string_view path) {
  for (const std::string_view prefix :
       {"/storage/", "/upload/storage/", "/resumable/upload/storage/", "/download/storage/",
        "/batch/storage/", "/b/"}) {
    if (path.starts_with(prefix)) return true;
  }
  return path == "/b";
}

http::Response NoStorageRoute(int status, const http::Request& request, const std::string& allow) {
  if (status == 405) {
    return errors::ToResponse(405, "methodNotAllowed",
                              request.method + " is not allowed here; allowed: " + allow + ".");
  }
  return errors::ToResponse(404, "notFound", "Not Found: " + request.path);
}

}  // namespace caip::gcs
