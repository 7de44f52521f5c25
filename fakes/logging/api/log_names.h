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

/// "projects/p" -> itself; nullopt for what is no parent of logs.
std::optional<std::string> ParseParent(std::string_view text);

/// "projects/p/logs/a%2Fb". The error is kInvalidArgument.
Result<LogKey> ParseLogName(std::string_view text);
/// Percent-encoded where it must be.
std::string LogNameText(const LogKey& log);

/// What a resource name of entries.list stands for: a parent, with all its entries or none (the
/// bucket _Required holds audit logs only). kInvalidArgument: malformed; kNotFound: no such view.
struct ListedResource {
  std::string parent;
  bool is_empty = false;
};
Result<ListedResource> ParseListedResource(std::string_view text);

}  // namespace caip::logging
