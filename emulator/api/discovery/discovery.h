#pragma once
// The discovery service: documents from which client libraries generate their methods, and the list
// of routes, from which docs/api.md is made. https://developers.google.com/discovery/v1/reference

#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/api/discovery/api_description.h"
#include "http/router.h"

namespace caip::api {

/// Makes the document of `api` with the methods that are in `served`, and all message types.
/// Clients send their calls to `root_url` ("http://127.0.0.1:2247/").
Json DiscoveryDocument(const ApiDescription& api, const std::set<std::string>& served,
                       const std::string& root_url);

/// GET /discovery/v1/apis, /discovery/v1/apis/{api}/{version}/rest and
/// /$discovery/rest?version=V, where the Host or the version selects the API. The documents contain
/// the methods of `router`, which these routes are added to.
std::vector<http::Route> DiscoveryRoutes(const http::Router& router);

/// GET /emulator/v1/routes: {"routes": [{"id", "method", "pattern", "emulated"}]}, the routes of
/// `router`, which this one is added to.
http::Route RouteListRoute(const http::Router& router);

}  // namespace caip::api
