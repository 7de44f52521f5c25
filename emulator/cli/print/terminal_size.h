#pragma once
// How large the window of a terminal is.

#include <cstddef>

namespace caip::cli {

/// In characters.
struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
  bool operator==(const TerminalSize&) const = default;
};

/// What COLUMNS and LINES say, else the terminal that `descriptor` is, else 80 by 24.
TerminalSize TerminalSizeOf(int descriptor);

}  // namespace caip::cli
