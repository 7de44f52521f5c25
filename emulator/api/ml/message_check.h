#pragma once
// Holds a body against a message type of an API's description.

#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::api {

/// Unknown names and values of a wrong type are kInvalidArgument, all of them at once, worded as
/// the service's transcoder does.
Status CheckMessage(const Json& body, const Json& schemas, std::string_view message);

}  // namespace caip::api
