#pragma once
// The methods of the JSON API: each parses a request, calls the service and renders the result.
// Private to fakes/gcs/json.

#include "fakes/gcs/json/json_api.h"
#include "http/message.h"
#include "http/router.h"

namespace caip::gcs {

using http::PathParameters;
using http::Request;
using http::Response;

/// A method of the API. errors::ToResponse renders its error.
using Method = Result<Response> (*)(StorageService&, const Request&, const PathParameters&);

// bucket_methods.cc
Result<Response> ListBuckets(StorageService&, const Request&, const PathParameters&);
Result<Response> InsertBucket(StorageService&, const Request&, const PathParameters&);
Result<Response> GetBucket(StorageService&, const Request&, const PathParameters&);
Result<Response> PatchBucket(StorageService&, const Request&, const PathParameters&);
Result<Response> DeleteBucket(StorageService&, const Request&, const PathParameters&);
Result<Response> GetStorageLayout(StorageService&, const Request&, const PathParameters&);
Result<Response> LockRetentionPolicy(StorageService&, const Request&, const PathParameters&);

// access_methods.cc: the access control lists of a bucket, an object ({object}) or new objects
// (.../defaultObjectAcl). IAM policies are stored and returned but not enforced.
Result<Response> ListAcl(StorageService&, const Request&, const PathParameters&);
Result<Response> GetAclEntry(StorageService&, const Request&, const PathParameters&);
Result<Response> PutAclEntry(StorageService&, const Request&, const PathParameters&);
Result<Response> DeleteAclEntry(StorageService&, const Request&, const PathParameters&);
Result<Response> GetIamPolicy(StorageService&, const Request&, const PathParameters&);
Result<Response> SetIamPolicy(StorageService&, const Request&, const PathParameters&);
Result<Response> TestIamPermissions(StorageService&, const Request&, const PathParameters&);

// bucket_methods.cc: notifications, the service account and managed folders.
Result<Response> ListNotifications(StorageService&, const Request&, const PathParameters&);
Result<Response> InsertNotification(StorageService&, const Request&, const PathParameters&);
Result<Response> GetNotification(StorageService&, const Request&, const PathParameters&);
Result<Response> DeleteNotification(StorageService&, const Request&, const PathParameters&);
Result<Response> GetServiceAccount(StorageService&, const Request&, const PathParameters&);
Result<Response> ListManagedFolders(StorageService&, const Request&, const PathParameters&);
Result<Response> InsertManagedFolder(StorageService&, const Request&, const PathParameters&);
Result<Response> GetManagedFolder(StorageService&, const Request&, const PathParameters&);
Result<Response> DeleteManagedFolder(StorageService&, const Request&, const PathParameters&);
Result<Response> RefuseFolders(StorageService&, const Request&, const PathParameters&);

// object_methods.cc
Result<Response> ListObjects(StorageService&, const Request&, const PathParameters&);
Result<Response> GetObject(StorageService&, const Request&, const PathParameters&);
Result<Response> DownloadObject(StorageService&, const Request&, const PathParameters&);
Result<Response> PatchObject(StorageService&, const Request&, const PathParameters&);
Result<Response> UpdateObject(StorageService&, const Request&, const PathParameters&);
Result<Response> DeleteObject(StorageService&, const Request&, const PathParameters&);
Result<Response> MoveObject(StorageService&, const Request&, const PathParameters&);
Result<Response> RestoreObject(StorageService&, const Request&, const PathParameters&);
Result<Response> BulkRestoreObjects(StorageService&, const Request&, const PathParameters&);

// write_methods.cc
Result<Response> InsertObject(StorageService&, const Request&, const PathParameters&);
Result<Response> PutUploadSession(StorageService&, const Request&, const PathParameters&);
Result<Response> DeleteUploadSession(StorageService&, const Request&, const PathParameters&);
Result<Response> RewriteObject(StorageService&, const Request&, const PathParameters&);
Result<Response> CopyObject(StorageService&, const Request&, const PathParameters&);
Result<Response> ComposeObject(StorageService&, const Request&, const PathParameters&);

}  // namespace caip::gcs
