#pragma once
// The JSON API of Cloud Storage (storage/v1) over the service, as a table of routes.
// https://cloud.google.com/storage/docs/json_api/v1

#include <memory>
#include <vector>

#include "fakes/gcs/service/storage_service.h"
#include "http/router.h"

namespace caip::gcs {

/// Every route of the API but the batch's (batch.h), which is made of these: /storage/v1/..., its
/// alias /b/..., /upload/..., /resumable/upload/... and /download/... The handlers share ownership
/// of `service`. Methods that are not emulated answer 501
/// with their names.
std::vector<http::Route> StorageRoutes(std::shared_ptr<StorageService> service);

/// True for paths of this API: there an unknown one gets this API's form of 404 and 405.
bool IsStoragePath(std::string_view path);
http::Response NoStorageRoute(int status, const http::Request& request, const std::string& allow);

}  // namespace caip::gcs
