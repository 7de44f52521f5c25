#pragma once
// The tables of a log book, and how an older file gets them.

#include <string>

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

// Names of settings.
inline const std::string kLastIdSetting = "last_id";  // of entries, where a log was deleted
inline const std::string kLastWrittenSetting = "last_written";
inline const std::string kSpanSetting = "span";  // of chunks made before spans had a bound

/// Makes the tables of an empty file, brings those of an older one up to date. kDataLoss: it is no
/// log book; kFailedPrecondition: a newer program made it.
Status PrepareSchema(LogFile& file);

}  // namespace caip::logging
