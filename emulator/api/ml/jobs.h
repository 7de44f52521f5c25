#pragma once
// projects.jobs: create, get, list, patch, cancel (docs/service/api.md, sections 2 to 8).

#include <vector>

#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// `engine` outlives the routes.
std::vector<http::Route> JobRoutes(engine::Engine& engine);

}  // namespace caip::api
