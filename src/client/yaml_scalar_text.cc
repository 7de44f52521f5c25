#include <algorithm>

#include "base/text.h"
#include "base/yaml_scalar.h"
#include "client/yaml_text.h"

namespace caip::client {
namespace {

constexpr int kFoldedWidth = 80;
constexpr std::u32string_view kBreaks = U"\n\u0085\u2028\u2029";
constexpr std::u32string_view kScalarBlanks = U" \t\r\n\u0085\u2028\u2029";

bool IsIn(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }

// True if YAML 1.2 would read the text as a number, a boolean, null or a date.
bool LooksTyped(std::string_view text) { return text.size() <= 256 && IsTypedInYaml12(text); }

struct Analysis {
  bool plain = true;
  bool single_quoted = true;
  bool block = true;
};

// Whether only a double-quoted scalar can hold the character: outside of one, a parser rejects it
// or reads another line break (YAML 1.1) in its place.
bool IsSpecial(char32_t c) {
  if (c == '\n' || (c >= 0x20 && c <= 0x7e)) return false;
  const bool printable = (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) || c >= 0x10000;
  return !printable || IsIn(c, U"\u2028\u2029\ufeff");
}

// gcloud writes each text with line breaks as a block, and so its YAML does not parse if the text
// has a control character.
bool FitsBlock(const std::u32string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char32_t c) { return c != '\t' && IsSpecial(c); });
}

// Whether the text has indicators that a plain scalar may not start with or contain.
bool HasIndicators(const std::u32string& text) {
  if (text.starts_with(U"---") || text.starts_with(U"...")) return true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    const bool blank_follows = i + 1 >= text.size() || IsIn(text[i + 1], kScalarBlanks);
    const bool blank_before = i == 0 || IsIn(text[i - 1], kScalarBlanks);
    if (i == 0 && IsIn(c, U"#,[]{}&*!|>'\"%@`")) return true;
    if (i == 0 && IsIn(c, U"?-") && blank_follows) return true;
    if (c == ':' && blank_follows) return true;
    if (c == '#' && blank_before) return true;
  }
  return false;
}

Analysis Analyse(const std::u32string& text) {
  Analysis allowed;
  if (text.empty()) return allowed;
  const auto edge = [](char32_t c) { return c == ' ' || IsIn(c, kBreaks); };
  if (edge(text.front()) || edge(text.back()) || HasIndicators(text)) allowed.plain = false;
  if (text.back() == ' ') allowed.block = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool line_break = IsIn(text[i], kBreaks);
    if (line_break) allowed.plain = false;
    if (line_break && i + 1 < text.size() && text[i + 1] == ' ') allowed.single_quoted = false;
    if (line_break && i > 0 && text[i - 1] == ' ') allowed.single_quoted = allowed.block = false;
    if (IsSpecial(text[i])) return {false, false, false};
  }
  return allowed;
}

// Writes one scalar and counts its columns.
class Writer {
 public:
  explicit Writer(const ScalarPlace& place) : place_(place), column_(place.column) {}

  // Plain and single-quoted scalars break at single blanks after column 80.
  std::string Words(const std::u32string& text, bool quoted) {
    if (quoted) Put('\'');
    for (size_t i = 0; i < text.size();) {
      if (text[i] == ' ') {
        size_t end = i;
        while (end < text.size() && text[end] == ' ') ++end;
        const bool inside = !quoted || (i != 0 && end != text.size());
        if (end == i + 1 && column_ > kFoldedWidth && inside && !place_.is_key) {
          NewLine();
        } else {
          for (; i < end; ++i) Put(' ');
        }
        i = end;
        continue;
      }
      if (quoted && text[i] == '\'') Put('\'');
      Put(text[i++]);
    }
    if (quoted) Put('\'');
    return std::move(out_);
  }

  std::string DoubleQuoted(const std::u32string& text) {
    Put('"');
    size_t start = 0;
    const auto flush = [&](size_t end) {
      while (start < end) Put(text[start++]);
    };
    for (size_t end = 0; end <= text.size(); ++end) {
      const bool last = end == text.size();
      const char32_t c = last ? 0 : text[end];
      if (last || NeedsEscape(c)) {
        flush(end);
        if (!last) {
          Escape(c);
          start = end + 1;
        }
      }
      const bool inside = end > 0 && end + 1 < text.size();
      const int ahead = static_cast<int>(end) - static_cast<int>(start);
      if (inside && (c == ' ' || start >= end) && column_ + ahead > kFoldedWidth &&
          !place_.is_key) {
        flush(end);
        Put('\\');
        NewLine();
        if (text[start] == ' ') Put('\\');
      }
    }
    Put('"');
    return std::move(out_);
  }

  // Writes a block scalar: |, with indicators for its indentation and its last line breaks.
  std::string Block(const std::u32string& text) {
    out_ = "|";
    if (text.front() == ' ' || IsIn(text.front(), kBreaks)) out_ += '2';
    if (!IsIn(text.back(), kBreaks)) {
      out_ += '-';
    } else if (text.size() == 1 || IsIn(text[text.size() - 2], kBreaks)) {
      out_ += '+';
    }
    bool at_start = true;
    out_ += '\n';
    for (char32_t c : text) {
      if (!IsIn(c, kBreaks) && at_start) {
        out_ += std::string(static_cast<size_t>(place_.indent), ' ');
      }
      at_start = IsIn(c, kBreaks);
      AppendUtf8(out_, c);
    }
    if (!at_start) out_ += '\n';
    return std::move(out_);
  }

 private:
  void Put(char32_t c) {
    AppendUtf8(out_, c);
    ++column_;
  }

  void NewLine() {
    out_ += '\n' + std::string(static_cast<size_t>(place_.indent), ' ');
    column_ = place_.indent;
  }

  static bool NeedsEscape(char32_t c) {
    if (IsIn(c, U"\"\\\u0085\u2028\u2029\ufeff")) return true;
    return !((c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c <= 0xd7ff) ||
             (c >= 0xe000 && c <= 0xfffd));
  }

  void Escape(char32_t c) {
    // Not \N and \_, which yaml-cpp reads as bytes that are not UTF-8.
    static constexpr char32_t kCharacters[] = {0,    '\a', '\b', '\t', '\n',   '\v',  '\f',
                                               '\r', 0x1b, '"',  '\\', 0x2028, 0x2029};
    constexpr std::u32string_view kNamed(kCharacters, std::size(kCharacters));
    constexpr std::string_view kNames = "0abtnvfre\"\\LP";
    char text[16];
    if (const size_t at = kNamed.find(c); at != kNamed.npos) {
      std::snprintf(text, sizeof text, "\\%c", kNames[at]);
    } else {
      const char* form = c <= 0xff ? "\\x%02X" : c <= 0xffff ? "\\u%04X" : "\\U%08X";
      std::snprintf(text, sizeof text, form, static_cast<unsigned>(c));
    }
    for (const char* p = text; *p; ++p) Put(static_cast<unsigned char>(*p));
  }

  ScalarPlace place_;
  int column_;
  std::string out_;
};

}  // namespace

std::string YamlScalar(std::string_view utf8, const ScalarPlace& place) {
  const std::u32string text = DecodeUtf8(utf8);
  const Analysis allowed = Analyse(text);
  const bool has_lines = text.find(U'\n') != text.npos;
  if (has_lines && !place.is_key && FitsBlock(text)) return Writer(place).Block(text);
  if (allowed.plain && !LooksTyped(utf8)) return Writer(place).Words(text, false);
  const bool awkward = text.find(U'\'') != text.npos || text.find(U'\n') != text.npos;
  if (awkward || !allowed.single_quoted) return Writer(place).DoubleQuoted(text);
  return Writer(place).Words(text, true);
}

}  // namespace caip::client
