#pragma once
// JSON schemas of messages: made of the tables by which the Job is read and written, and used to
// check the body of a request.

#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::api {

/// Adds GoogleCloudMlV1__Job and all messages in it.
void AddJobSchemas(Json& schemas);

/// Checks a body against a message type. kInvalidArgument lists all unknown names and values of a
/// wrong type, in the words of the service's transcoder.
Status CheckMessage(const Json& body, const Json& schemas, std::string_view message);

}  // namespace caip::api
