#pragma once
// Parameter tables: a written case becomes one case for each row.

#include <optional>
#include <vector>

#include "conformance/format/document.h"

namespace conform {

/// The rows of `table` and `each` in a written case, as maps of name to value. One empty row if it
/// has neither. `table` is {columns, rows} or a list of maps; `each` is a map of lists, which gives
/// all combinations.
Result<std::vector<Json>> RowsOf(const Document& document, const std::string& pointer,
                                 const Json& written);

}  // namespace conform
