#pragma once
// Removes the entries of deleted logs from the file, a few at a time.

#include "fakes/logging/book/log_file.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// Used by the storing thread while it has nothing to store. Readers do not see the entries of a
/// log that is marked as deleted; this only frees their space.
class LogPurge {
 public:
  /// Works for some milliseconds. False: nothing is left to remove.
  Result<bool> Step(LogFile& file);

 private:
  Result<bool> PurgeWritten(LogFile& file, const LogKey& log, const DeletedUpTo& up_to);
  Result<bool> PurgeChunks(LogFile& file, const LogKey& log, const DeletedUpTo& up_to);

  LogKey log_;                // the log that is being removed
  uint64_t last_id_ = 0;      // its last deleted entry
  uint64_t chunks_done_ = 0;  // chunks up to this first id are done
};

}  // namespace caip::logging
