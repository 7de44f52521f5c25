#pragma once
// One source of entries in their order, time by time: the chunks of a project, or what clients
// wrote under one parent.

#include <compare>
#include <memory>
#include <string>

#include "base/json_fwd.h"
#include "fakes/logging/book/log_file.h"
#include "fakes/logging/book/written_rows.h"
#include "fakes/logging/filter/bounds.h"

namespace caip::logging {

/// Where an entry stands in a listing. `source` tells apart what has the rest in common.
struct EntryPosition {
  Instant time;
  std::string insert_id;
  int source = 0;
  auto operator<=>(const EntryPosition&) const = default;
};

/// What all sources of a listing are told.
struct EntryScan {
  EntryBounds bounds;
  bool newest_first = false;
  DeletedLogs deleted;
  Duration span = kChunkSpanMax;  // of the longest chunk
};

/// A source. One thread, inside LogFile::ReadAtOnce.
class EntryCursor {
 public:
  virtual ~EntryCursor() = default;
  /// Goes to the next entry; false at the end. What the bounds exclude may come all the same.
  virtual Result<bool> Next() = 0;
  virtual EntryPosition position() const = 0;
  /// False: the present entry is deleted, or the bounds exclude it. Cheap.
  virtual bool IsWanted() const = 0;
  /// How many stored entries were looked at for the last Next().
  virtual size_t looks() const = 0;
  /// The present entry as a LogEntry.
  virtual Result<Json> Read() const = 0;
};

std::unique_ptr<EntryCursor> ChunkEntries(LogFile& file, const EntryScan& scan,
                                          const std::string& project, int source);
std::unique_ptr<EntryCursor> WrittenEntries(LogFile& file, const EntryScan& scan,
                                            const std::string& parent, int source);

}  // namespace caip::logging
