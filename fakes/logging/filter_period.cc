// Times of a filter: RFC 3339 with any number of digits, or a beginning of it.

#include <chrono>

#include "base/text.h"
#include "fakes/logging/filter_comparison.h"

namespace caip::logging {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;
using std::chrono::years;

// What a shortened time lacks, by how long it is.
constexpr std::string_view kWhole = "0000-01-01T00:00:00";
constexpr size_t kDigitsMax = 9;

bool IsBeginning(size_t length) {
  return length == 4 || length == 7 || length == 10 || length == 13 || length == 16;
}

Instant EndOf(Instant first, size_t length) {
  const auto day = std::chrono::floor<days>(first);
  const year_month_day date(day);
  if (length == 4) return sys_days(date + years(1));
  if (length == 7) return sys_days(date + months(1));
  if (length == 10) return first + days(1);
  if (length == 13) return first + hours(1);
  return first + minutes(1);
}

// What 64 bits of nanoseconds cannot hold is before or behind all entries.
std::optional<FilterPeriod> OutOfReach(std::string_view text) {
  const std::string_view year = text.substr(0, 4);
  if (year.size() < 4 || year.find_first_not_of("0123456789") != year.npos) return std::nullopt;
  if (year < "1679") return FilterPeriod{Instant::min(), Instant::min() + Duration(1)};
  if (year > "2260") return FilterPeriod{Instant::max() - Duration(1), Instant::max()};
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
  constexpr size_t kOffset = sizeof("+0100") - 1;
  if (text.size() < kWhole.size() + kOffset) return text;
  const size_t sign = text.size() - kOffset;
  const bool is_plain = (text[sign] == '+' || text[sign] == '-') &&
                        text.find_first_not_of("0123456789", sign + 1) == text.npos;
  if (is_plain) text.insert(sign + 3, ":");
  return text;
}

}  // namespace

std::optional<FilterPeriod> ParseFilterPeriod(std::string_view text) {
  if (const auto beyond = OutOfReach(text)) return beyond;
  std::string whole = WithColonInOffset(WithNineDigitsAtMost(text));
  if (IsBeginning(text.size())) {
    whole += kWhole.substr(text.size());
    const auto first = ParseRfc3339(whole + "Z");
    if (!first) return std::nullopt;
    return FilterPeriod{*first, EndOf(*first, text.size())};
  }
  auto first = ParseRfc3339(whole);
  if (!first) first = ParseRfc3339(whole + "Z");
  if (!first) return std::nullopt;
  return FilterPeriod{*first, *first + Duration(1)};
}

}  // namespace caip::logging
