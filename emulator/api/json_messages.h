#pragma once
// JSON bodies of requests and responses. An error has the form of Google's APIs: {"error": {code,
// message, status, details}}.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::api {

Json ErrorBody(const Error& error);
http::Response ErrorResponse(const Error& error);

/// Renders the router's 404 and 405 in the same form.
http::Response NoRouteResponse(int status, const http::Request& request, const std::string& allow);

/// Renders the value as JSON text, or the error in its form. Obeys `prettyPrint=false`.
http::Response Respond(const http::Request& request, const Result<Json>& result);

/// The name of a field in JSON: "page_size" -> "pageSize".
std::string JsonName(std::string_view name);

/// Reads the body of a request, at most 16 MiB; kInvalidArgument if it is larger.
Result<std::string> ReadBodyText(const http::Request& request);

/// Reads the body as a JSON object, at most 16 MiB; an empty body is an empty object.
/// kInvalidArgument, with the text of the service's transcoder, if it is not a JSON object.
Result<Json> ReadJsonObject(const http::Request& request);

/// The violations of a body whose message has no fields: one for each member.
std::vector<FieldViolation> UnknownNamesIn(const Json& body);

}  // namespace caip::api
