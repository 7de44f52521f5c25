#pragma once
// Resources as --format wants them printed: gcloud's printers, as far as format_expression.h goes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// One resource. `table` without keys is the table of `jobs list`. Error: a format there is not.
Result<std::string> FormatResource(const Json& resource, std::string_view format);

/// A list of jobs: yaml puts `---` before each, json makes a list, and the keys that gcloud's own
/// table of jobs names keep its headings and its local dates, as they do in gcloud. Tables have
/// `page_size` rows and then a blank line and the heading again.
Result<std::string> FormatResources(const Json& resources, std::string_view format,
                                    std::optional<int64_t> page_size = std::nullopt);

}  // namespace caip::cli
