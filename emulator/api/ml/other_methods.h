#pragma once
// What ml v1 has beside jobs and locations: operations, of which training makes none, and the
// methods that are not emulated.

#include <vector>

#include "http/router.h"

namespace caip::api {

/// projects.operations: a list that is empty, and none to get.
std::vector<http::Route> OperationRoutes();

/// A 501 with its name for each method of the service that is not among `served`.
std::vector<http::Route> NotEmulatedRoutes(const std::vector<http::Route>& served);

}  // namespace caip::api
