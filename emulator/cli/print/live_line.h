#pragma once
// A line of the terminal that says how far something is.

#include <functional>
#include <string_view>

#include "emulator/cli/output.h"

namespace caip::cli {

/// Prints its text over the text before; "" removes the line. Long texts are cut at the
/// width of the terminal. Null if standard error is not a terminal. `io` must outlive it.
std::function<void(std::string_view text)> LiveLine(const Io& io);

}  // namespace caip::cli
