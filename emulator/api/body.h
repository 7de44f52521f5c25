#pragma once
// The JSON body of a request of the ml API.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::api {

/// At most 16 MiB; kInvalidArgument tells of more.
Result<std::string> ReadBodyText(const http::Request& request);

/// Of at most 16 MiB. kInvalidArgument, worded as the service's transcoder, where it is no JSON
/// object; no body at all is an empty one.
Result<Json> ReadJsonObject(const http::Request& request);

}  // namespace caip::api
