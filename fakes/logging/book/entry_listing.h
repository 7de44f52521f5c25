#pragma once
// A page of entries.list: the entries of several sources that match a filter, in one order.

#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/logging/book/log_file.h"
#include "fakes/logging/book/written_rows.h"
#include "fakes/logging/filter/bounds.h"
#include "fakes/logging/filter/filter.h"

namespace caip::logging {

/// The position of an entry in a listing. `source` orders entries that have the same time and
/// insert id.
struct EntryPosition {
  Instant time;
  std::string insert_id;
  int source = 0;
  auto operator<=>(const EntryPosition&) const = default;
};

/// The parameters that all sources of a listing share.
struct EntryScan {
  EntryBounds bounds;
  bool newest_first = false;
  DeletedLogs deleted;
  Duration span = kChunkSpanMax;  // of the longest chunk
};

/// A source of entries in the order of their times: the chunks of a project, or the entries that
/// clients wrote under one parent. One thread, inside LogFile::ReadSnapshot.
class EntryCursor {
 public:
  virtual ~EntryCursor() = default;
  /// Moves to the next entry; false at the end. May stop at entries that the bounds exclude.
  virtual Result<bool> Next() = 0;
  virtual EntryPosition position() const = 0;
  /// False: the current entry is deleted, or the bounds exclude it. Cheap.
  virtual bool IsWanted() const = 0;
  /// The number of stored entries that the last Next() examined.
  virtual size_t examined() const = 0;
  /// The current entry as a LogEntry.
  virtual Result<Json> Read() const = 0;
};

std::unique_ptr<EntryCursor> MakeChunkCursor(LogFile& file, const EntryScan& scan,
                                             const std::string& project, int source);
std::unique_ptr<EntryCursor> MakeWrittenCursor(LogFile& file, const EntryScan& scan,
                                               const std::string& parent, int source);

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
