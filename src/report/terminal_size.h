#pragma once
// How large the window of a terminal is.

#include <cstddef>
#include <string_view>

namespace caip::report {

/// In characters.
struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
  bool operator==(const TerminalSize&) const = default;
};

/// What COLUMNS and LINES say, else the terminal that `descriptor` is, else 80 by 24.
TerminalSize TerminalSizeOf(int descriptor);

/// How many columns a text takes: one for each code point, which is good enough for ids, times and
/// URIs.
size_t TerminalColumns(std::string_view text);

}  // namespace caip::report
