#pragma once
// An entry that a client wrote: entries.write's LogEntry, checked, and as a row.

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::logging {

/// A row of what clients wrote. `json` is the LogEntry as entries.list answers it.
struct WrittenEntry {
  std::string parent;  // "projects/p"
  std::string log_id;  // not encoded: "a/b"
  Instant time;
  std::string insert_id;
  std::string job_id;  // resource.labels.job_id, or ""
  int severity = 0;
  std::string json;
};

/// What entries.write says for all its entries.
struct WriteDefaults {
  std::string log_name;
  const Json* resource = nullptr;
  const Json* labels = nullptr;
};

/// Checks a LogEntry as a client sends it and makes it the row that is stored: members it does not
/// have come from `defaults`, its time from `now`, its insert id from `insert_id`. The errors are
/// kInvalidArgument and name the member.
Result<WrittenEntry> ReadWrittenEntry(const Json& entry, const WriteDefaults& defaults, Instant now,
                                      const std::string& insert_id);

}  // namespace caip::logging
