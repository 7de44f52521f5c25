#pragma once
// The methods of the JSON API: parse, ask the store, render. Private to fakes/gcs.

#include <functional>
#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/store/bucket_rules.h"
#include "http/message.h"
#include "http/router.h"

namespace caip::gcs {

using http::PathParameters;
using http::Request;
using http::Response;

/// A method: an error becomes the response that errors::ToResponse makes of it.
using Method = Result<Response> (*)(StorageApi&, const Request&, const PathParameters&);

// bucket_methods.cc
Result<Response> ListBuckets(StorageApi&, const Request&, const PathParameters&);
Result<Response> InsertBucket(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetBucket(StorageApi&, const Request&, const PathParameters&);
Result<Response> PatchBucket(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteBucket(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetStorageLayout(StorageApi&, const Request&, const PathParameters&);
Result<Response> LockRetentionPolicy(StorageApi&, const Request&, const PathParameters&);
/// Reads, changes and writes back, under the request's conditions; again when another was faster.
/// metageneration + 1, unless the change is one that the service does not count.
Result<Bucket> ChangeBucket(StorageApi&, const Request&, const std::string& name,
                            const std::function<Status(Bucket*)>& change, bool counts = true);

// policy_methods.cc: kept and given back, never asked.
Result<Response> GetIamPolicy(StorageApi&, const Request&, const PathParameters&);
Result<Response> SetIamPolicy(StorageApi&, const Request&, const PathParameters&);
Result<Response> TestIamPermissions(StorageApi&, const Request&, const PathParameters&);
Result<Response> ListNotifications(StorageApi&, const Request&, const PathParameters&);
Result<Response> InsertNotification(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetNotification(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteNotification(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetServiceAccount(StorageApi&, const Request&, const PathParameters&);

// folder_methods.cc
/// Their names, sorted, each with the "/" at its end.
std::vector<std::string> ManagedFoldersOf(const Bucket& bucket);
Result<Response> ListManagedFolders(StorageApi&, const Request&, const PathParameters&);
Result<Response> InsertManagedFolder(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetManagedFolder(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteManagedFolder(StorageApi&, const Request&, const PathParameters&);
Result<Response> RefuseFolders(StorageApi&, const Request&, const PathParameters&);

// acl_methods.cc: of the bucket, of an object ({object}), or of new objects (.../defaultObjectAcl).
Result<Response> ListAcl(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetAclEntry(StorageApi&, const Request&, const PathParameters&);
Result<Response> PutAclEntry(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteAclEntry(StorageApi&, const Request&, const PathParameters&);

// object_methods.cc
Result<Response> ListObjects(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> PatchObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> UpdateObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteObject(StorageApi&, const Request&, const PathParameters&);

Result<Response> MoveObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> RestoreObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> BulkRestoreObjects(StorageApi&, const Request&, const PathParameters&);
/// Reads, changes and writes back. Without conditions of the client's own it tries again when
/// another one was faster.
Result<ObjectInfo> ChangeObject(StorageApi&, const Request&, const PathParameters&,
                                const std::function<Status(ObjectInfo*)>& change);

// download_methods.cc
Result<Response> DownloadObject(StorageApi&, const Request&, const PathParameters&);

// upload_methods.cc
Result<Response> InsertObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> PutUploadSession(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteUploadSession(StorageApi&, const Request&, const PathParameters&);

// copy_methods.cc
Result<Response> RewriteObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> CopyObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> ComposeObject(StorageApi&, const Request&, const PathParameters&);

// api_parts.cc: what several methods need.

/// "http://127.0.0.1:8080": scheme and host of the request itself.
std::string BaseOf(const Request& request);
/// The body as JSON: an empty one and the word null are null. kInvalidArgument when it is no JSON,
/// too large, or neither object nor null.
Result<Json> JsonBody(const Request& request);
Response Rendered(const Json& json);
Response NoContent();
/// Which version the request means by `generation` (or another parameter) and `softDeleted`.
Result<Version> VersionOf(const Request& request, const std::string& generation = "generation");
bool IsTrue(std::string_view text);
/// The object as the request wants it, with the end of what the bucket's policy makes of it:
/// projection=full has its access control list.
Json RenderedObject(StorageApi& api, const Request& request, const ObjectInfo& info);
/// The same for many objects of one bucket, whose rules need then be read but once.
Json RenderedObject(const Bucket& bucket, const BucketRules& rules, const Request& request,
                    const ObjectInfo& info);
/// The preconditions of a read: 412 by error, 304 (not modified) by the response.
Result<std::optional<Response>> CheckReadConditions(const Request& request, const ObjectInfo& info);

}  // namespace caip::gcs
