#pragma once
// GET /emulator/v1/routes: everything that is served, as the tables say it. docs/api.md is made of
// it.

#include <vector>

#include "http/router.h"

namespace caip::api {

/// {"routes": [{"id", "method", "pattern", "emulated"}]}, those of `routes` and its own.
http::Route RouteListRoute(const std::vector<http::Route>& routes);

}  // namespace caip::api
