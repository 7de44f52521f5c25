#pragma once
// What commands write besides their results: errors and report files.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/io.h"

namespace caip::cli {

/// Writes "ERROR: (caip.COMMAND) message" and returns the exit code.
int Fail(const Io& io, std::string_view command, std::string_view message,
         int exit_code = kExitFailure);

/// Writes a report to `file`; "-" prints it, and without a file nothing happens.
Status WriteReport(const std::optional<std::string>& file, const std::string& text, const Io& io);

}  // namespace caip::cli
