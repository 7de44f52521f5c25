#pragma once
// The OCI Distribution API, version 1.1, as a table of routes. All are below /v2/.
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#endpoints

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/registry/registry.h"
#include "http/router.h"

namespace caip::registry {

/// Returns the registry, or why it cannot be used. Any thread.
using RegistrySource = std::function<Result<Registry*>()>;

/// Makes every route of the API. Each request asks `source` for the registry. HEAD is answered by
/// the routes of GET.
std::vector<http::Route> RegistryRoutes(RegistrySource source);

/// True for paths of this API. Some paths below /v2/ belong to Cloud Logging.
bool IsRegistryPath(std::string_view path);

/// The answer to a request below a registry path or at a registry's host that has no route.
http::Response NoRegistryRoute(int status, const http::Request& request, const std::string& allow);

}  // namespace caip::registry
