#pragma once
// Requests and responses of the Logging API as JSON, page tokens, and the names of logs and views.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/logging/book/written_rows.h"
#include "http/message.h"

namespace caip::logging {

/// Reads the body as an object; an empty body counts as {}. kInvalidArgument: it is malformed.
Result<Json> ReadBody(const http::Request& request);
/// Returns the object with its members in camelCase. kInvalidArgument: a member, in camelCase or
/// snake_case, is not one of `names` (in camelCase).
Result<Json> CanonicalMembers(const Json& object, std::initializer_list<std::string_view> names);

/// Renders the value, or {"error": {code, message, status}}.
http::Response MakeResponse(const http::Request& request, const Result<Json>& result);
http::Response MakeErrorResponse(const Error& error, const Json& details);

/// Returns the size of a page: `standard` if the request has none (0), and at most `most`.
Result<size_t> LimitPageSize(long long asked, size_t standard, size_t most);
/// Makes a page token, which is opaque to clients.
std::string MakePageToken(const Json& token);
/// kInvalidArgument: MakePageToken never made this text.
Result<Json> ParsePageToken(std::string_view text);

// Names of the Logging API: projects/p, projects/p/logs/a%2Fb, .../buckets/_Default/views/_AllLogs.

/// True for "projects", "organizations", "folders" and "billingAccounts".
bool IsParentKind(std::string_view kind);

/// Returns a parent of logs, such as "projects/p", unchanged; nullopt for any other text.
std::optional<std::string> ParseParent(std::string_view text);

/// Parses "projects/p/logs/a%2Fb". The error is kInvalidArgument.
Result<LogKey> ParseLogName(std::string_view text);
/// The full name of a log, percent-encoded where necessary.
std::string LogNameText(const LogKey& log);

/// A resource name of entries.list: a parent, with all its entries or none (the bucket _Required
/// holds only audit logs). kInvalidArgument: malformed; kNotFound: the view does not exist.
struct ListedResource {
  std::string parent;
  bool is_empty = false;
};
Result<ListedResource> ParseListedResource(std::string_view text);

}  // namespace caip::logging
