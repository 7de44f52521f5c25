#pragma once
// Requests and answers of the Logging API as JSON.

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::logging {

/// The body as an object; an empty one counts as {}. kInvalidArgument tells what is wrong.
Result<Json> ReadBody(const http::Request& request);
/// kInvalidArgument for a member that is none of `names` (as camelCase), in either spelling.
/// Answers the object with its members in camelCase.
Result<Json> OnlyMembers(const Json& object, std::initializer_list<std::string_view> names);

/// {"error": {code, message, status}}, or the value.
http::Response Answer(const http::Request& request, const Result<Json>& result);
http::Response ErrorAnswer(const Error& error, const Json& details);

/// pageSize of a query or a body: `standard` where it is not told, `most` where it is more.
Result<size_t> PageSizeOf(long long asked, size_t standard, size_t most);
/// Opaque for clients.
std::string TokenText(const Json& token);
/// kInvalidArgument for what TokenText never made.
Result<Json> ReadToken(std::string_view text);

}  // namespace caip::logging
