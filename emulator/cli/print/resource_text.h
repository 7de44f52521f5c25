#pragma once
// Prints resources by --format: gcloud's printers, as far as format_expression.h supports them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// Prints one resource. `table` without keys is the table of `jobs list`. Fails for an unknown
/// format.
Result<std::string> FormatResource(const Json& resource, std::string_view format);

/// Prints a list of jobs. yaml puts `---` before each job, and json makes a list. As in gcloud,
/// keys of the default table keep its headings and local dates. Tables repeat the heading, after a
/// blank line, every `page_size` rows.
Result<std::string> FormatResources(const Json& resources, std::string_view format,
                                    std::optional<int64_t> page_size = std::nullopt);

/// The same for resources other than jobs of AI Platform: there are no default keys, headings and
/// dates, so `table` needs keys.
Result<std::string> FormatPlainResources(const Json& resources, std::string_view format,
                                         std::optional<int64_t> page_size = std::nullopt);

}  // namespace caip::cli
