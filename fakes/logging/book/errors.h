#pragma once
// The errors of the log book's file.

#include <string>
#include <string_view>

#include "base/files.h"

namespace caip::logging::errors {

/// `detail` is SQLite's message.
Error CannotOpen(Code code, const Path& file, std::string_view detail);
Error NotALogBook(const Path& file);
Error MadeByNewerVersion(const Path& file, int version);
Error CannotStore(Code code, const Path& file, std::string_view detail);
Error CannotRead(Code code, const Path& file, std::string_view detail);
Error ChunkDamaged(const Path& file, unsigned long long first_id);

Error WrittenDamaged(const Path& file, long long id);
Error ResourceDamaged(const Path& file, const std::string& name);
Error LogNotFound(const std::string& log_id);
Error ClientGone();

}  // namespace caip::logging::errors
