#pragma once
// An Error as Google's APIs answer it: {"error": {code, message, status, details}}.

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

}  // namespace caip::api
