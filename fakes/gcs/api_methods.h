#pragma once
// The methods of the JSON API: parse, ask the store, render. Private to fakes/gcs.

#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/json_api.h"
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
Result<Response> ListManagedFolders(StorageApi&, const Request&, const PathParameters&);

// object_methods.cc
Result<Response> ListObjects(StorageApi&, const Request&, const PathParameters&);
Result<Response> GetObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> PatchObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> UpdateObject(StorageApi&, const Request&, const PathParameters&);
Result<Response> DeleteObject(StorageApi&, const Request&, const PathParameters&);

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
/// kNotFound when the request names another generation (parameter `name`) than the live one.
Status CheckGeneration(const Request& request, const std::string& name, const ObjectInfo& info);
/// The preconditions of a read: 412 by error, 304 (not modified) by the response.
Result<std::optional<Response>> CheckReadConditions(const Request& request, const ObjectInfo& info);

}  // namespace caip::gcs
