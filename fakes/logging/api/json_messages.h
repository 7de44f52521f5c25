#pragma once
// Requests and responses of the Logging API as JSON, and page tokens.

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::logging {

/// Reads the body as an object; an empty body counts as {}. kInvalidArgument: it is malformed.
Result<Json> ReadBody(const http::Request& request);
/// Returns the object with its members in camelCase. kInvalidArgument: a member, in camelCase or
/// snake_case, is not one of `names` (in camelCase).
Result<Json> CanonicalMembers(const Json& object, std::initializer_list<std::string_view> names);

/// The value, or {"error": {code, message, status}}.
http::Response MakeResponse(const http::Request& request, const Result<Json>& result);
http::Response MakeErrorResponse(const Error& error, const Json& details);

/// Limits a page size: `standard` if none was given (0), at most `most`.
Result<size_t> LimitPageSize(long long asked, size_t standard, size_t most);
/// A page token. Opaque to clients.
std::string MakePageToken(const Json& token);
/// kInvalidArgument: MakePageToken never made this text.
Result<Json> ParsePageToken(std::string_view text);

}  // namespace caip::logging
