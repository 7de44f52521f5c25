#pragma once
// A page of entries.list: the entries of several sources that match a filter, in one order.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/logging/book/entry_cursor.h"
#include "fakes/logging/filter/filter.h"

namespace caip::logging {

/// Selects the entries of a page.
struct ListQuery {
  std::vector<std::string> parents;  // "projects/p", "organizations/1"; each once
  Filter filter;
  bool newest_first = false;
  std::optional<EntryPosition> after;  // list only later ones
  Instant until = Instant::max();      // exclusive; in addition to the filter
  size_t limit = 50;
  size_t examined_max = 1'000'000;  // the most stored entries to examine for one page
};

struct ListPage {
  std::vector<Json> entries;
  // Set if there may be more after it, even if `entries` is empty.
  std::optional<EntryPosition> next;
};

/// Sorts by time, then by insert id. Newest first is exactly the reverse order.
Result<ListPage> ListEntries(LogFile& file, const ListQuery& query);

}  // namespace caip::logging
