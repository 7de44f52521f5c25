#pragma once
// A log entry as rows of text: gcloud's columns, or prefixed and coloured for a terminal.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace caip::cli {

/// `entry` is one of the emulator's follow answer: severity, timestamp, task, trial, message.
/// "SEVERITY\tTIME\tTASK\tTRIAL\tMESSAGE\n", one row for each line of the message unless
/// `allow_multiline`. TIME is local time with its offset, as gcloud prints it.
std::string PlainRows(const Json& entry, bool allow_multiline);

/// "   1.24s  worker-0    | message\n" with the role's colour; errors and warnings stand out.
/// `elapsed` is since the job was created.
std::string ColourRows(const Json& entry, Duration elapsed);

/// "   1.24s  RUNNING\n" in bold.
std::string StateRow(std::string_view state, Duration elapsed);

}  // namespace caip::cli
