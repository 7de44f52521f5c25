#include "harness/explorer/other_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "harness/explorer/drift.h"
#include "harness/explorer/start_counts.h"

namespace caip::harness {
namespace {

using Counts = std::array<uint64_t, 256>;

Counts CountsOf(std::string_view bytes) {
  Counts counts{};
  for (const char c : bytes) ++counts[static_cast<unsigned char>(c)];
  return counts;
}

bool IsDriftOf(double number, double other) {
  const double larger = std::max(std::abs(number), std::abs(other));
  return std::abs(number - other) <= larger * kDriftMax;
}

template <typename Number>
Number NumberAt(std::string_view bytes, size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Whether the bytes [begin, end) are within one number that drifts. Numbers may start anywhere.
template <typename Number>
bool IsInDrift(std::string_view bytes, std::string_view other, size_t begin, size_t end) {
  if (end - begin > sizeof(Number)) return false;
  const size_t first = end < sizeof(Number) ? 0 : end - sizeof(Number);
  for (size_t at = first; at <= begin && at + sizeof(Number) <= bytes.size(); ++at) {
    const auto mine = NumberAt<Number>(bytes, at);
    const auto found = NumberAt<Number>(other, at);
    if (std::isnormal(mine) && std::isnormal(found) && IsDriftOf(mine, found)) return true;
  }
  return false;
}

// Whether each run of bytes that differ is within a number that drifts. The high bytes of such a
// number are equal, so a run ends with its number.
bool MayDrift(std::string_view bytes, std::string_view other) {
  for (size_t at = 0; at < bytes.size();) {
    if (bytes[at] == other[at]) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < bytes.size() && bytes[at] != other[at]) ++at;
    const bool drifts =
        IsInDrift<float>(bytes, other, begin, at) || IsInDrift<double>(bytes, other, begin, at);
    if (!drifts) return false;
  }
  return true;
}

/// A word of a text, or a number.
struct Token {
  std::string_view text;
  std::optional<double> number;
  bool is_whole() const { return text.find_first_of(".eE") == std::string_view::npos; }
};

Token NextToken(std::string_view text) {
  constexpr std::string_view kEnds = " \t\r\n,;:=()[]{}|\"'";
  const size_t end = std::max<size_t>(1, std::min(text.find_first_of(kEnds), text.size()));
  const std::string_view word = text.substr(0, end);
  double number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == word.data() + word.size();
  return {word, is_number ? std::optional(number) : std::nullopt};
}

bool IsDigitAt(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// Whether the number is a part of a time of day: "08:30:12", "08:30:12.5". "1:0.25" is none.
bool IsPartOfClock(std::string_view text, size_t at, const Token& number) {
  constexpr size_t kDigits = 2;
  const size_t end = at + number.text.size();
  const bool begins = end < text.size() && text[end] == ':' && IsDigitAt(text, end + 1);
  const bool follows = at >= 2 && text[at - 1] == ':' && IsDigitAt(text, at - 2);
  if (number.is_whole()) return begins || follows;
  return follows && at >= 3 && IsDigitAt(text, at - 3) && number.text.find('.') == kDigits;
}

// `wholes_are_sure`: whether whole numbers that differ must mean something else.
template <typename Judge>
bool AreSureToDiffer(std::string_view text, std::string_view other, const Judge& wholes_are_sure) {
  bool differs = false;
  size_t at = 0;
  size_t there = 0;
  while (at < text.size() && there < other.size()) {
    const Token mine = NextToken(text.substr(at));
    const Token found = NextToken(other.substr(there));
    const bool is_time = IsPartOfClock(text, at, mine);
    at += mine.text.size();
    there += found.text.size();
    if (mine.text == found.text) continue;
    if (!mine.number || !found.number || is_time) return false;
    const bool is_whole = mine.is_whole() && found.is_whole();
    if (is_whole && !wholes_are_sure(*mine.number, *found.number)) return false;
    differs = differs || is_whole || !IsDriftOf(*mine.number, *found.number);
  }
  return differs && at == text.size() && there == other.size();
}

// Without the last part of a mark.
std::string_view ValuesIn(std::string_view mark) { return mark.substr(0, mark.rfind(' ')); }

std::string_view SizeIn(std::string_view mark) { return mark.substr(0, mark.find(' ')); }

}  // namespace

bool HoldOtherValues(std::string_view bytes, std::string_view other) {
  if (bytes.size() != other.size() || CountsOf(bytes) == CountsOf(other)) return false;
  return !MayDrift(bytes, other);
}

bool IsText(std::string_view bytes) {
  return IsUtf8(bytes) && std::none_of(bytes.begin(), bytes.end(), [](unsigned char c) {
           return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
         });
}

bool TextsHoldOtherValues(std::string_view text, std::string_view other) {
  return AreSureToDiffer(text, other, [](double, double) { return false; });
}

bool TextsHoldMoreThanCounts(std::string_view once, std::string_view other, size_t starts,
                             size_t restarts) {
  return AreSureToDiffer(once, other, [starts, restarts](double number, double found) {
    return !MayCountStarts(number, found, starts, restarts);
  });
}

std::string MarkOf(std::string_view bytes) {
  const Counts counts = CountsOf(bytes);
  const std::string_view values(reinterpret_cast<const char*>(counts.data()), sizeof counts);
  const std::hash<std::string_view> hash;
  return std::to_string(bytes.size()) + " " + std::to_string(hash(values)) + " " +
         std::to_string(hash(bytes));
}

bool MarksHoldOtherValues(std::string_view mark, std::string_view other) {
  return SizeIn(mark) == SizeIn(other) && ValuesIn(mark) != ValuesIn(other);
}

}  // namespace caip::harness
