#include "base/text.h"

#include <algorithm>
#include <utility>

namespace caip {
std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

std::string ReplaceAll(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (length == 1) return 1;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::u32string DecodeUtf8(std::string_view text) {
  std::u32string characters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80 && !characters.empty()) {
      characters.back() = characters.back() << 6 | (byte & 0x3f);
    } else {
      characters += byte >= 0xf0   ? byte & 0x07
                    : byte >= 0xe0 ? byte & 0x0f
                    : byte >= 0xc0 ? byte & 0x1f
                                   : byte;
    }
  }
  return characters;
}

void AppendUtf8(std::string& text, char32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[more] | point >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (point >> (6 * i) & 0x3f));
}

namespace {

// The number of characters to insert, remove or replace, or of neighbours to swap.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t i = 0; i <= b.size(); ++i) row[i] = i;
  for (size_t k = 0; k < a.size(); ++k) {
    before_last.swap(last);
    last.swap(row);
    row[0] = k + 1;
    for (size_t i = 0; i < b.size(); ++i) {
      row[i + 1] = std::min({last[i] + (a[k] != b[i]), row[i] + 1, last[i + 1] + 1});
      const bool is_swap = k > 0 && i > 0 && a[k] == b[i - 1] && a[k - 1] == b[i];
      if (is_swap) row[i + 1] = std::min(row[i + 1], before_last[i - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(std::string_view word, const std::vector<std::string>& names) {
  const std::string lower = LowerCase(word.substr(0, 100));
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    const size_t distance = Distance(lower, LowerCase(name));
    if (distance >= best) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace caip
