#include "emulator/cli/print/live_line.h"

#include <unistd.h>

#include <string>

#include "base/terminal_text.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

// A line that fills the window would wrap, and the next one could not overwrite it.
std::string CutAt(std::string text, size_t columns) {
  while (report::TerminalColumns(text) >= columns && !text.empty()) {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) {
      text.pop_back();
    }
    text.pop_back();
  }
  return text;
}

}  // namespace

std::function<void(std::string_view)> LiveLine(const Io& io) {
  if (!io.err_is_terminal) return nullptr;
  return [&io, columns = report::TerminalSizeOf(STDERR_FILENO).columns](std::string_view text) {
    io.err(Drawing("\r\033[K" + CutAt(TerminalText(text, Controls::kNone), columns)));
  };
}

}  // namespace caip::cli
