#pragma once
// The errors of the log book's file.

#include <string>

#include "base/files.h"

namespace caip::logging::errors {

/// `detail` is SQLite's message.
Error CannotOpen(const Path& file, int sqlite_code, const std::string& detail);
Error NotALogBook(const Path& file);
Error MadeByNewerVersion(const Path& file, int version);
Error CannotStore(const Path& file, int sqlite_code, const std::string& detail);
Error CannotRead(const Path& file, int sqlite_code, const std::string& detail);
Error ChunkDamaged(const Path& file, unsigned long long first_id);

Error WrittenDamaged(const Path& file, long long id);
Error ResourceDamaged(const Path& file, const std::string& name);
Error LogNotFound(const std::string& log_id);

}  // namespace caip::logging::errors
