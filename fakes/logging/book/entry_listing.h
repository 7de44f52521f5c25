#pragma once
// A page of entries.list: entries of several sources in one order, those that a filter matches.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/logging/book/entry_cursor.h"
#include "fakes/logging/filter/filter.h"

namespace caip::logging {

/// What to list.
struct ListQuery {
  std::vector<std::string> parents;  // "projects/p", "organizations/1"; each once
  Filter filter;
  bool newest_first = false;
  std::optional<EntryPosition> after;  // continue behind it
  Instant until = Instant::max();      // exclusive, whatever the filter says
  size_t limit = 50;
  size_t looks_max = 1'000'000;  // stored entries looked at for one page
};

struct ListPage {
  std::vector<Json> entries;
  std::optional<EntryPosition> next;  // there may be more behind it; also when `entries` is empty
};

/// Equal times are in the order of insert ids; newest first is exactly the other way round.
Result<ListPage> ListEntries(LogFile& file, const ListQuery& query);

}  // namespace caip::logging
