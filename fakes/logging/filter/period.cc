// Times of a filter: RFC 3339 with any number of digits, or a beginning of it.

#include <algorithm>

#include "fakes/logging/filter/comparison.h"

namespace caip::logging {
namespace {

constexpr size_t kDigitsMax = 9;

// What 64 bits of nanoseconds cannot hold is before or behind all entries.
std::optional<Period> OutOfReach(std::string_view text) {
  const std::string_view year = text.substr(0, 4);
  if (year.size() < 4 || year.find_first_not_of("0123456789") != year.npos) return std::nullopt;
  if (year < "1679") return Period{Instant::min(), Instant::min() + Duration(1)};
  if (year > "2260") return Period{Instant::max() - Duration(1), Instant::max()};
  return std::nullopt;
}

// Digits below the nanosecond are cut off.
std::string WithNineDigitsAtMost(std::string_view text) {
  std::string shorter(text);
  const size_t point = shorter.find('.');
  if (point == std::string::npos) return shorter;
  const size_t end = std::min(shorter.find_first_not_of("0123456789", point + 1), shorter.size());
  if (end - point - 1 > kDigitsMax)
    shorter.erase(point + 1 + kDigitsMax, end - point - 1 - kDigitsMax);
  return shorter;
}

// ISO 8601 has offsets without the colon, too: +0100, as google-cloud-logging writes them.
std::string WithColonInOffset(std::string text) {
  constexpr size_t kTime = sizeof("2017-01-15T19:00:00") - 1;
  constexpr size_t kOffset = sizeof("+0100") - 1;
  if (text.size() < kTime + kOffset) return text;
  const size_t sign = text.size() - kOffset;
  const bool is_plain = (text[sign] == '+' || text[sign] == '-') &&
                        text.find_first_not_of("0123456789", sign + 1) == text.npos;
  if (is_plain) text.insert(sign + 3, ":");
  return text;
}

}  // namespace

std::optional<Period> ParseEntryPeriod(std::string_view text) {
  if (const auto beyond = OutOfReach(text)) return beyond;
  return ParsePeriod(WithColonInOffset(WithNineDigitsAtMost(text)), Duration(1));
}

}  // namespace caip::logging
