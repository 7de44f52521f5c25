#include "base/quoting.h"

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

std::string MarkupText(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += control ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace caip
