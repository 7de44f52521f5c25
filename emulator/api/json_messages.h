#pragma once
// JSON bodies: of requests, of answers, and of errors as Google's APIs answer them: {"error":
// {code, message, status, details}}.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::api {

Json ErrorBody(const Error& error);
http::Response ErrorResponse(const Error& error);

/// 404 and 405 of the router in the same form.
http::Response NoRouteResponse(int status, const http::Request& request, const std::string& allow);

/// The value as JSON text, or the error in its form. `prettyPrint=false` is honoured.
http::Response Respond(const http::Request& request, const Result<Json>& result);

/// The body of a request, at most 16 MiB; kInvalidArgument if it is larger.
Result<std::string> ReadBodyText(const http::Request& request);

/// The body as a JSON object, at most 16 MiB; an empty body is an empty object. kInvalidArgument,
/// in the words of the service's transcoder, if it is not a JSON object.
Result<Json> ReadJsonObject(const http::Request& request);

}  // namespace caip::api
