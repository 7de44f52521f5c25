#pragma once
// Parameter tables: one written case becomes one case a row.

#include <optional>
#include <vector>

#include "conformance/format/document.h"

namespace conform {

/// The rows that `table` and `each` of a written case stand for: maps of name to value. One empty
/// row when it has neither. `table` is {columns, rows} or a list of maps; `each` is a map of lists,
/// of which every combination is taken.
Result<std::vector<Json>> RowsOf(const Document& document, const std::string& pointer,
                                 const Json& written);

}  // namespace conform
