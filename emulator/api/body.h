#pragma once
// The JSON body of a request of the ml API.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::api {

/// The body of a request, at most 16 MiB; kInvalidArgument if it is larger.
Result<std::string> ReadBodyText(const http::Request& request);

/// The body as a JSON object, at most 16 MiB; an empty body is an empty object. kInvalidArgument,
/// in the words of the service's transcoder, if it is not a JSON object.
Result<Json> ReadJsonObject(const http::Request& request);

}  // namespace caip::api
