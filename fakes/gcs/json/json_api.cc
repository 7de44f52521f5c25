#include "fakes/gcs/json/json_api.h"

#include <algorithm>
#include <span>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/request_fields.h"

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
    {"POST", "/b/{bucket}/lockRetentionPolicy", "storage.buckets.lockRetentionPolicy",
     LockRetentionPolicy},
    {"GET", "/b/{bucket}/iam", "storage.buckets.getIamPolicy", GetIamPolicy},
    {"PUT", "/b/{bucket}/iam", "storage.buckets.setIamPolicy", SetIamPolicy},
    {"GET", "/b/{bucket}/iam/testPermissions", "storage.buckets.testIamPermissions",
     TestIamPermissions},
    {"GET", "/b/{bucket}/acl", "storage.bucketAccessControls.list", ListAcl},
    {"POST", "/b/{bucket}/acl", "storage.bucketAccessControls.insert", PutAclEntry},
    {"GET", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.get", GetAclEntry},
    {"PUT", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.update", PutAclEntry},
    {"PATCH", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.patch", PutAclEntry},
    {"DELETE", "/b/{bucket}/acl/{entity}", "storage.bucketAccessControls.delete", DeleteAclEntry},
    {"GET", "/b/{bucket}/defaultObjectAcl", "storage.defaultObjectAccessControls.list", ListAcl},
    {"POST", "/b/{bucket}/defaultObjectAcl", "storage.defaultObjectAccessControls.insert",
     PutAclEntry},
    {"GET", "/b/{bucket}/defaultObjectAcl/{entity}", "storage.defaultObjectAccessControls.get",
     GetAclEntry},
    {"PUT", "/b/{bucket}/defaultObjectAcl/{entity}", "storage.defaultObjectAccessControls.update",
     PutAclEntry},
    {"PATCH", "/b/{bucket}/defaultObjectAcl/{entity}", "storage.defaultObjectAccessControls.patch",
     PutAclEntry},
    {"DELETE", "/b/{bucket}/defaultObjectAcl/{entity}",
     "storage.defaultObjectAccessControls.delete", DeleteAclEntry},
    {"GET", "/b/{bucket}/notificationConfigs", "storage.notifications.list", ListNotifications},
    {"POST", "/b/{bucket}/notificationConfigs", "storage.notifications.insert", InsertNotification},
    {"GET", "/b/{bucket}/notificationConfigs/{notification}", "storage.notifications.get",
     GetNotification},
    {"DELETE", "/b/{bucket}/notificationConfigs/{notification}", "storage.notifications.delete",
     DeleteNotification},
    {"GET", "/b/{bucket}/managedFolders", "storage.managedFolders.list", ListManagedFolders},
    {"POST", "/b/{bucket}/managedFolders", "storage.managedFolders.insert", InsertManagedFolder},
    {"GET", "/b/{bucket}/managedFolders/{folder}", "storage.managedFolders.get", GetManagedFolder},
    {"DELETE", "/b/{bucket}/managedFolders/{folder}", "storage.managedFolders.delete",
     DeleteManagedFolder},
    {"GET", "/b/{bucket}/managedFolders/{folder}/iam", "storage.managedFolders.getIamPolicy",
     GetIamPolicy},
    {"PUT", "/b/{bucket}/managedFolders/{folder}/iam", "storage.managedFolders.setIamPolicy",
     SetIamPolicy},
    {"GET", "/b/{bucket}/managedFolders/{folder}/iam/testPermissions",
     "storage.managedFolders.testIamPermissions", TestIamPermissions},
    {"GET", "/b/{bucket}/folders", "storage.folders.list", RefuseFolders},
    {"POST", "/b/{bucket}/folders", "storage.folders.insert", RefuseFolders},
    {"GET", "/b/{bucket}/folders/{folder}", "storage.folders.get", RefuseFolders},
    {"DELETE", "/b/{bucket}/folders/{folder}", "storage.folders.delete", RefuseFolders},
    {"POST", "/b/{bucket}/folders/{folder}/renameTo/folders/{toFolder}", "storage.folders.rename",
     RefuseFolders},
    {"POST", "/b/{bucket}/folders/{folder}/deleteRecursive", "storage.folders.deleteRecursive",
     RefuseFolders},
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
    {"POST", "/b/{bucket}/o/{object}/moveTo/o/{toObject}", "storage.objects.move", MoveObject},
    {"POST", "/b/{bucket}/o/{object}/restore", "storage.objects.restore", RestoreObject},
    {"POST", "/b/{bucket}/o/bulkRestore", "storage.objects.bulkRestore", BulkRestoreObjects},
    {"GET", "/b/{bucket}/o/{object}/iam", "storage.objects.getIamPolicy", GetIamPolicy},
    {"PUT", "/b/{bucket}/o/{object}/iam", "storage.objects.setIamPolicy", SetIamPolicy},
    {"GET", "/b/{bucket}/o/{object}/iam/testPermissions", "storage.objects.testIamPermissions",
     TestIamPermissions},
    {"GET", "/b/{bucket}/o/{object}/acl", "storage.objectAccessControls.list", ListAcl},
    {"POST", "/b/{bucket}/o/{object}/acl", "storage.objectAccessControls.insert", PutAclEntry},
    {"GET", "/b/{bucket}/o/{object}/acl/{entity}", "storage.objectAccessControls.get", GetAclEntry},
    {"PUT", "/b/{bucket}/o/{object}/acl/{entity}", "storage.objectAccessControls.update",
     PutAclEntry},
    {"PATCH", "/b/{bucket}/o/{object}/acl/{entity}", "storage.objectAccessControls.patch",
     PutAclEntry},
    {"DELETE", "/b/{bucket}/o/{object}/acl/{entity}", "storage.objectAccessControls.delete",
     DeleteAclEntry},
    {"GET", "/projects/{project}/serviceAccount", "storage.projects.serviceAccount.get",
     GetServiceAccount},
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

// Methods of the real service that are not emulated. They answer 501 with their names.
constexpr Served kNotServed[] = {
    {"POST", "/b/{bucket}/restore", "storage.buckets.restore", nullptr},
    {"POST", "/b/{bucket}/relocate", "storage.buckets.relocate", nullptr},
    {"GET", "/b/{bucket}/operations", "storage.buckets.operations.list", nullptr},
    {"GET", "/b/{bucket}/operations/{operation}", "storage.buckets.operations.get", nullptr},
    {"POST", "/b/{bucket}/operations/{operation}/cancel", "storage.buckets.operations.cancel",
     nullptr},
    {"POST", "/b/{bucket}/operations/{operation}/advanceRelocateBucket",
     "storage.buckets.operations.advanceRelocateBucket", nullptr},
    {"GET", "/b/{bucket}/anywhereCaches", "storage.anywhereCaches.list", nullptr},
    {"POST", "/b/{bucket}/anywhereCaches", "storage.anywhereCaches.insert", nullptr},
    {"GET", "/b/{bucket}/anywhereCaches/{cache}", "storage.anywhereCaches.get", nullptr},
    {"PATCH", "/b/{bucket}/anywhereCaches/{cache}", "storage.anywhereCaches.update", nullptr},
    {"POST", "/b/{bucket}/anywhereCaches/{cache}/pause", "storage.anywhereCaches.pause", nullptr},
    {"POST", "/b/{bucket}/anywhereCaches/{cache}/resume", "storage.anywhereCaches.resume", nullptr},
    {"POST", "/b/{bucket}/anywhereCaches/{cache}/disable", "storage.anywhereCaches.disable",
     nullptr},
    {"POST", "/b/{bucket}/o/watch", "storage.objects.watchAll", nullptr},
    {"POST", "/channels/stop", "storage.channels.stop", nullptr},
};

Result<Response> Call(const Served& served, StorageService& service, const Request& request,
                      const PathParameters& path) {
  if (served.method == nullptr) return errors::NotImplemented(std::string("Method ") + served.id);
  RETURN_IF_ERROR(CheckParameters(request, served.id));
  return served.method(service, request, path);
}

bool IsBelow(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

http::Route RouteOf(const std::string& prefix, const Served& served,
                    const std::shared_ptr<StorageService>& service) {
  const auto handler = [service, served](const Request& request, const PathParameters& path) {
    auto response = Call(served, *service, request, path);
    return response.ok() ? std::move(*response) : errors::ToResponse(response.error());
  };
  return {served.verb, prefix + served.pattern, served.id, handler, served.method != nullptr};
}

}  // namespace

std::vector<http::Route> StorageRoutes(std::shared_ptr<StorageService> service) {
  std::vector<http::Route> routes;
  for (const std::string prefix : {"/storage/v1", ""}) {
    for (const auto& methods : {std::span<const Served>(kServed), {kNotServed}}) {
      for (const Served& served : methods) {
        const bool has_route = !prefix.empty() || IsAliasPath(served.pattern);
        if (has_route) routes.push_back(RouteOf(prefix, served, service));
      }
    }
  }
  for (const Served& served : kServedElsewhere) routes.push_back(RouteOf("", served, service));
  return routes;
}

bool IsAliasPath(std::string_view path) {
  if (IsBelow(path, "/b")) return true;
  constexpr std::string_view kProjects = "/projects/";
  if (!path.starts_with(kProjects)) return false;
  const size_t slash = path.find('/', kProjects.size());
  const std::string_view rest = slash == path.npos ? "" : path.substr(slash);
  return IsBelow(rest, "/serviceAccount") || IsBelow(rest, "/hmacKeys");
}

std::string WithOneSlash(std::string path) {
  const size_t slashes = std::min(path.find_first_not_of('/'), path.size());
  if (slashes > 1) path.erase(0, slashes - 1);
  return path;
}

bool IsStoragePath(std::string_view path) {
  for (const std::string_view prefix :
       {"/storage/", "/upload/storage/", "/resumable/upload/storage/", "/download/storage/",
        "/batch/storage/"}) {
    if (path.starts_with(prefix)) return true;
  }
  return IsAliasPath(path);
}

http::Response NoStorageRoute(int status, const http::Request& request, const std::string& allow) {
  const bool known = status == 405;
  return errors::ToResponse(known ? errors::MethodNotAllowed(request.method, allow)
                                  : errors::RouteNotFound(request.path));
}

}  // namespace caip::gcs
