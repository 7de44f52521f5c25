#pragma once
// The tables of a log book, and how an older file gets them.

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// Opens a log book's file: creates its tables if it is new, and upgrades an older one. kDataLoss:
/// the file is not a log book; kFailedPrecondition: a newer version of caip made it.
Result<LogFile> OpenLogFile(const Path& path);

}  // namespace caip::logging
