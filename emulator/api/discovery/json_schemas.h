#pragma once
// JSON schemas of messages: made of the tables by which the Job is read and written, and used to
// check the body of a request.

#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::api {

/// Adds GoogleCloudMlV1__Job and all it is made of.
void AddJobSchemas(Json& schemas);

/// Unknown names and values of a wrong type are kInvalidArgument, all of them at once, worded as
/// the service's transcoder does.
Status CheckMessage(const Json& body, const Json& schemas, std::string_view message);

}  // namespace caip::api
