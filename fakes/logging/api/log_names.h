#pragma once
// Names of the Logging API: projects/p, projects/p/logs/a%2Fb, .../buckets/_Default/views/_AllLogs.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// "projects", "organizations", "folders", "billingAccounts".
bool IsParentKind(std::string_view kind);

/// Returns a parent of logs, such as "projects/p", unchanged; nullopt for any other text.
std::optional<std::string> ParseParent(std::string_view text);

/// "projects/p/logs/a%2Fb". The error is kInvalidArgument.
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
