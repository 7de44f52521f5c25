#pragma once
// The discovery service: documents from which client libraries make their methods.
// https://developers.google.com/discovery/v1/reference

#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/api/discovery/api_description.h"
#include "http/router.h"

namespace caip::api {

/// The methods of `api` that stand in `served`, and every message type. `root_url`
/// ("http://127.0.0.1:2247/") is where clients will send their calls.
Json DiscoveryDocument(const ApiDescription& api, const std::set<std::string>& served,
                       const std::string& root_url);

/// GET /discovery/v1/apis, /discovery/v1/apis/{api}/{version}/rest and
/// /$discovery/rest?version=V, where the Host or the version tells which API is meant. The
/// documents hold what `routes`, all other routes of the emulator, serve.
std::vector<http::Route> DiscoveryRoutes(const std::vector<http::Route>& routes);

/// {"routes": [{"id", "method", "pattern", "emulated"}]}, those of `routes` and its own.
http::Route RouteListRoute(const std::vector<http::Route>& routes);

}  // namespace caip::api
