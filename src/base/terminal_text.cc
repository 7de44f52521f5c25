#include "base/terminal_text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.h"
#include "base/text.h"

namespace caip {
namespace {

constexpr char kEscape = '\x1b';

bool IsPlain(unsigned char byte) {
  return (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t';
}

// The length of the SGR sequence at the head of `text`; 0 if there is none.
size_t ColourLength(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;:", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

void AppendEscape(const char* form, unsigned number, std::string& shown) {
  char escape[16];
  std::snprintf(escape, sizeof escape, form, number);
  shown += escape;
}

// Characters that change the order of those beside them, break the line, or are invisible, so that
// a text is not what it seems to be. Joiners of letters and of emoji are none.
bool IsDeceptive(char32_t point) {
  constexpr struct {
    char32_t first, last;
  } kRanges[] = {{0x061c, 0x061c}, {0x200b, 0x200b}, {0x200e, 0x200f},  {0x2028, 0x202e},
                 {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges), [point](const auto& range) {
    return range.first <= point && point <= range.last;
  });
}

// Adds the character at the head of `text`, which is not plain ASCII. Returns its length.
size_t AppendCharacter(std::string_view text, std::string& shown) {
  const auto byte = static_cast<unsigned char>(text.front());
  const size_t length = Utf8Length(text);
  if (byte == '\r' && text.substr(1).starts_with('\n')) return 1;
  if (byte < 0x80 || length == 0) {
    AppendEscape("\\x%02x", byte, shown);
    return 1;
  }
  const char32_t point = DecodeUtf8(text.substr(0, length)).front();
  if (point < 0xa0 || IsDeceptive(point)) {
    AppendEscape(point > 0xffff ? "\\U%08x" : "\\u%04x", point, shown);
  } else {
    shown += text.substr(0, length);
  }
  return length;
}

}  // namespace

std::string TerminalText(std::string_view text, Controls kept) {
  if (kept == Controls::kAll) return std::string(text);
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto special = std::find_if_not(
        text.begin(), text.end(), [](char c) { return IsPlain(static_cast<unsigned char>(c)); });
    const auto plain = static_cast<size_t>(special - text.begin());
    shown += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const bool may_colour = kept == Controls::kColours && text.front() == kEscape;
    size_t length = may_colour ? ColourLength(text) : 0;
    if (length > 0) {
      shown += text.substr(0, length);
    } else {
      length = AppendCharacter(text, shown);
    }
    text.remove_prefix(length);
  }
  return shown;
}

void WriteText(int descriptor, std::string_view text, Controls kept) {
  if (::isatty(descriptor) == 1) {
    (void)WriteAll(descriptor, TerminalText(text, kept));
  } else {
    (void)WriteAll(descriptor, text);
  }
}

}  // namespace caip
