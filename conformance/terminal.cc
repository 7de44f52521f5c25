#include "conformance/terminal.h"

#include <string_view>

namespace conform {
namespace {

// The length of the colour sequence at the start of the text, such as "\033[31m"; 0: there is none.
size_t ColourLength(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

// The length of the control character at the start of the text; 0: there is none.
size_t ControlLength(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return 1;
  if (byte != 0xc2 || text.size() < 2) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  return second >= 0x80 && second <= 0x9f ? 2 : 0;
}

}  // namespace

std::string ForPeople(const std::string& text) {
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t colour = ColourLength(rest);
    const size_t control = colour > 0 ? 0 : ControlLength(rest);
    shown += control > 0 ? "?" : rest.substr(0, colour > 0 ? colour : 1);
    rest.remove_prefix(colour + control > 0 ? colour + control : 1);
  }
  return shown;
}

}  // namespace conform
