#include "report/terminal_size.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace caip::report {
namespace {

// The number in an environment variable; 0 if it has none.
size_t CountIn(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value ? value : "";
  unsigned short count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  return code == std::errc() && end == text.data() + text.size() ? count : 0;
}

size_t FirstOf(size_t said, size_t told, size_t usual) {
  return said > 0 ? said : told > 0 ? told : usual;
}

}  // namespace

TerminalSize TerminalSizeOf(int descriptor) {
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) != 0) window = {};
  const TerminalSize usual;
  return {FirstOf(CountIn("COLUMNS"), window.ws_col, usual.columns),
          FirstOf(CountIn("LINES"), window.ws_row, usual.rows)};
}

size_t TerminalColumns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace caip::report
