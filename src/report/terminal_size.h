#pragma once
// The size of a terminal's window, and the width of text in it.

#include <cstddef>
#include <string_view>

namespace caip::report {

/// A size in characters.
struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
  bool operator==(const TerminalSize&) const = default;
};

/// The values of COLUMNS and LINES, or else the size of the terminal `descriptor`, or else 80
/// by 24.
TerminalSize TerminalSizeOf(int descriptor);

/// The number of columns of a text: one for each code point, which is right for IDs, times and
/// URIs.
size_t TerminalColumns(std::string_view text);

}  // namespace caip::report
