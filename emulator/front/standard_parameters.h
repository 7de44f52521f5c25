#pragma once
// What every method of Google's APIs understands beside its own parameters: fields, alt, $.xgafv,
// prettyPrint, and key, quotaUser, access_token and their like, which change nothing here.

#include <vector>

#include "http/router.h"

namespace caip::front {

/// The same routes, whose handlers honour the standard parameters. Of methods that an
/// ApiDescription has; others are left alone, and so is media.
std::vector<http::Route> WithStandardParameters(std::vector<http::Route> routes);

}  // namespace caip::front
