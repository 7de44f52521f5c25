#pragma once
// The IAM methods of jobs: getIamPolicy, setIamPolicy, testIamPermissions.

#include <vector>

#include "emulator/api/ml/policies.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// Both outlive the routes.
std::vector<http::Route> IamRoutes(engine::Engine& engine, PolicyStore& policies);

}  // namespace caip::api
