#include "harness/explorer/difference.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <vector>

#include "base/text.h"

namespace caip::harness {
namespace {

constexpr size_t kDifferenceShown = 60;  // characters of a text
constexpr size_t kBefore = 20;           // of them before the first difference
constexpr size_t kBytesShown = 12;       // of bytes that are not text

bool IsText(std::string_view bytes) {
  return IsUtf8(bytes) && std::none_of(bytes.begin(), bytes.end(), [](unsigned char c) {
           return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
         });
}

// Not in the middle of a character.
size_t BeginOfCharacter(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

std::string Hexadecimal(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, " %02x", byte);
    text += digits;
  }
  return text;
}

bool SaysSomething(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); });
}

}  // namespace

std::string ExcerptAtDifference(std::string_view bytes, std::string_view other) {
  const auto ends = std::mismatch(bytes.begin(), bytes.end(), other.begin(), other.end());
  const auto at = static_cast<size_t>(ends.first - bytes.begin());
  if (IsText(bytes) && IsText(other)) {
    if (bytes.size() <= kDifferenceShown || at < kDifferenceShown - kBefore) {
      return std::string(bytes.substr(0, BeginOfCharacter(bytes, kDifferenceShown)));
    }
    const size_t begin = BeginOfCharacter(bytes, at - kBefore);
    const size_t end = BeginOfCharacter(bytes, begin + kDifferenceShown);
    return "…" + std::string(bytes.substr(begin, end - begin));
  }
  const std::string size = std::to_string(bytes.size()) + " bytes, ";
  if (at == bytes.size()) return size + "no more";
  return size + "at byte " + std::to_string(at) + ":" + Hexadecimal(bytes.substr(at, kBytesShown));
}

std::string FindErrorLine(std::string_view error_message) {
  std::string last;
  std::string exception;
  bool in_traceback = false;
  for (const std::string& line : Split(error_message, '\n')) {
    const std::string said(Trim(line.substr(0, line.find("To find out more"))));
    const bool is_link = said.size() < Trim(line).size();
    if (!SaysSomething(said) || (is_link && !last.empty())) continue;
    if (line.starts_with("  File \"")) {
      in_traceback = true;
    } else if (in_traceback && line.front() != ' ') {
      exception = said;
      in_traceback = false;
    }
    last = said;
  }
  return exception.empty() ? last : exception;
}

}  // namespace caip::harness
