#pragma once
// Reads a LogEntry of entries.write: checks it and makes its row.

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// The values of entries.write that apply to all its entries, and those that the service adds.
struct WriteDefaults {
  std::string log_name;
  const Json* resource = nullptr;
  const Json* labels = nullptr;
  Instant now;
  std::function<std::string()> new_insert_id;
};

/// Checks a LogEntry and makes its row. Errors are kInvalidArgument and name the member; `place` is
/// a path such as "entries[3]".
Result<WrittenEntry> ReadWrittenEntry(const Json& entry, const std::string& place,
                                      const WriteDefaults& defaults);

}  // namespace caip::logging
