#pragma once
// Takes deleted logs' entries out of the file, a little at a time.

#include "fakes/logging/book/log_file.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// The storing thread's; works while there is nothing to store. Readers see none of the entries
/// from the moment a log is marked as deleted; this only gives their room back.
class LogPurge {
 public:
  /// Does a part of the work, some milliseconds' worth. False: nothing is left to do.
  Result<bool> Step(LogFile& file);

 private:
  Result<bool> PurgeWritten(LogFile& file, const LogKey& log, const DeletedUpTo& up_to);
  Result<bool> PurgeChunks(LogFile& file, const LogKey& log, const DeletedUpTo& up_to);

  LogKey log_;  // that is being purged, up to where, and the first ids up to which it is
  uint64_t last_id_ = 0;
  uint64_t chunks_done_ = 0;
};

}  // namespace caip::logging
