#pragma once
// The JSON API of Cloud Storage (storage/v1), its batches and the methods of keys, as tables of
// routes.
// https://cloud.google.com/storage/docs/json_api/v1

#include <memory>
#include <string>
#include <vector>

#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/signing/service_keys.h"
#include "http/router.h"

namespace caip::gcs {

/// Makes every route of the API except BatchRoute, which calls these: /storage/v1/..., its aliases
/// (IsAliasPath), /upload/..., /resumable/upload/... and /download/... The handlers share ownership
/// of `service`. Methods that are not emulated answer 501 with their names.
std::vector<http::Route> StorageRoutes(std::shared_ptr<StorageService> service);

/// True for /b/..., /projects/{project}/serviceAccount and /projects/{project}/hmacKeys/...:
/// clients that STORAGE_EMULATOR_HOST names the server leave out /storage/v1.
bool IsAliasPath(std::string_view path);

/// Leaves one slash at the beginning of a path. STORAGE_EMULATOR_HOST with a slash at its end makes
/// clients ask for "//storage/v1/b".
std::string WithOneSlash(std::string path);

/// True for paths of this API. Unknown ones get a 404 or 405 in this API's form.
bool IsStoragePath(std::string_view path);
http::Response NoStorageRoute(int status, const http::Request& request, const std::string& allow);

// batch.cc: POST /batch/storage/v1, many small requests in one body, as Python's client.batch()
// sends them. https://cloud.google.com/storage/docs/batch

/// Makes a route that splits a batch and serves each request with `routes`. A batch may have at
/// most 100 requests.
http::Route BatchRoute(std::vector<http::Route> routes);

// key_routes.cc: the methods that make and use keys: storage.projects.hmacKeys, IAM's signBlob, and
// an emulator method that registers the public key of a service account.

/// /storage/v1/projects/{project}/hmacKeys and below, and the alias of each. The handlers share
/// `keys`.
std::vector<http::Route> HmacKeyRoutes(std::shared_ptr<ServiceKeys> keys);

/// /v1/projects/{project}/serviceAccounts/{account}:signBlob (iamcredentials.googleapis.com), and
/// GET and PUT /emulator/v1/serviceAccounts/{account}/publicKeys: {"publicKeys":[PEM]}. A PUT of
/// {"publicKey":PEM} adds a key. The PEM may also be a private key or a certificate: the route then
/// adds its public key.
std::vector<http::Route> AccountKeyRoutes(std::shared_ptr<ServiceKeys> keys);

}  // namespace caip::gcs
