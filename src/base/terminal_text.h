#pragma once
// Makes text safe for a terminal. A trainer, a request or an object's name may contain control
// sequences. A terminal would carry them out: they write the clipboard, change the window's title,
// hide lines, or answer as if the user had typed.

#include <string>
#include <string_view>

namespace caip {

/// The control sequences that stay in a text.
enum class Controls {
  kNone,     // for resources and messages
  kColours,  // SGR (ECMA-48, section 8.3.117), which sets colours and bold type: for log lines
  kAll,      // for sequences of caip itself, such as those that redraw a line
};

/// Line breaks, tabs and the `kept` sequences stay. Any other control character (C0, DEL, C1) and
/// each byte that is not UTF-8 becomes visible: \x1b, \u009b, \xff. A carriage return before a line
/// break is dropped.
std::string TerminalText(std::string_view text, Controls kept);

/// Writes a text to a stream of this process, such as STDERR_FILENO. A terminal gets
/// TerminalText(text, kept); a file or a pipe gets the bytes unchanged. Errors are ignored, because
/// the reader may be gone.
void WriteText(int descriptor, std::string_view text, Controls kept = Controls::kNone);

}  // namespace caip
