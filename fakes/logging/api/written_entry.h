#pragma once
// An entry that a client wrote: entries.write's LogEntry, checked, and as a row.

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// What entries.write says for all its entries, and what the service adds.
struct WriteDefaults {
  std::string log_name;
  const Json* resource = nullptr;
  const Json* labels = nullptr;
  Instant now;
  std::function<std::string()> new_insert_id;
};

/// Checks a LogEntry as a client sends it and makes it the row that is stored. The errors are
/// kInvalidArgument and name the member; `place` is "entries[3]".
Result<WrittenEntry> ReadWrittenEntry(const Json& entry, const std::string& place,
                                      const WriteDefaults& defaults);

}  // namespace caip::logging
