#pragma once
// Every text of the log book that a user can read in an error is made here, and nowhere else.

#include <string>

#include "base/files.h"

namespace caip::logging::errors {

/// `detail` is SQLite's own sentence.
Error CannotOpen(const Path& file, int sqlite_code, const std::string& detail);
Error NotALogBook(const Path& file);
Error MadeByNewerVersion(const Path& file, int version);
Error CannotStore(const Path& file, int sqlite_code, const std::string& detail);
Error CannotRead(const Path& file, int sqlite_code, const std::string& detail);
Error ChunkDamaged(const Path& file, unsigned long long first_id);

}  // namespace caip::logging::errors
