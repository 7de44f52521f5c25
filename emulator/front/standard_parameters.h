#pragma once
// The standard parameters of Google's APIs, which every method accepts: fields, alt, $.xgafv,
// prettyPrint, and others such as key, quotaUser and access_token, which have no effect in caip.

#include <vector>

#include "http/router.h"

namespace caip::front {

/// The same routes, with handlers that support the standard parameters. Routes without an
/// ApiDescription and media downloads stay unchanged.
std::vector<http::Route> WithStandardParameters(std::vector<http::Route> routes);

}  // namespace caip::front
