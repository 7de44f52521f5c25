#pragma once
// Help pages as text.

#include <cstddef>
#include <string>

#include "emulator/cli/arguments/command_shape.h"

namespace caip::cli {

/// "Usage: caip jobs cancel JOB [flags]" and a line break; a line for each way of use.
std::string UsageOf(const CommandShape& command, size_t width);

/// The page of --help: all flags but the settings of the emulator, with all that is known of them.
/// No line but an example is wider than `width`, as far as words allow it.
std::string LongHelp(const CommandShape& page, size_t width);

/// The page of -h: the usage, and a line for each of the most used flags.
std::string ShortHelp(const CommandShape& page, size_t width);

}  // namespace caip::cli
