#include "base/quoting.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/text.h"

namespace caip {

std::string Quoted(std::string_view value) {
  std::string quoted;
  quoted.reserve(value.size() + 2);
  quoted += '\'';
  quoted += value;
  quoted += '\'';
  return quoted;
}

std::string ShellQuoted(std::string_view word) {
  bool plain = !word.empty();
  for (char c : word) {
    plain = plain && (IsUnreserved(static_cast<unsigned char>(c)) ||
                      std::string_view("/:=,@%+").find(c) != std::string_view::npos);
  }
  if (plain) return std::string(word);
  return "'" + ReplaceAll(std::string(word), "'", "'\\''") + "'";
}

namespace {

constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD
// U+FFFE and U+FFFF, which no document of XML may have (XML 1.0, section 2.2).
constexpr std::string_view kNotInMarkup[] = {"\xef\xbf\xbe", "\xef\xbf\xbf"};

std::string MarkupOfAscii(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return std::string(1, c < 0x20 && c != '\n' && c != '\t' ? ' ' : c);
  }
}

}  // namespace

std::string MarkupText(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, length);
    if (length == 1) {
      escaped += MarkupOfAscii(text.front());
    } else if (length == 0 || std::ranges::count(kNotInMarkup, character) > 0) {
      escaped += kReplacementCharacter;
    } else {
      escaped += character;
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return escaped;
}

}  // namespace caip
