#include "base/filter_comparison.h"

#include <chrono>
#include <string>

#include "base/time_text.h"

namespace caip {
namespace {

using std::chrono::days;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month_day;
using std::chrono::years;

// Completes the beginning of a time: the rest of this text is appended to it.
constexpr std::string_view kWhole = "0000-01-01T00:00:00";

bool IsBeginning(size_t length) {
  return length == 4 || length == 7 || length == 10 || length == 13 || length == 16;
}

Instant EndOf(Instant first, size_t length) {
  const auto day = std::chrono::floor<days>(first);
  const year_month_day date(day);
  if (length == 4) return sys_days(date + years(1));
  if (length == 7) return sys_days(date + months(1));
  if (length == 10) return first + days(1);
  if (length == 13) return first + std::chrono::hours(1);
  return first + std::chrono::minutes(1);
}

constexpr size_t kYearDigits = 4;
constexpr size_t kDateLength = 10;
constexpr size_t kHourLength = 13;
constexpr size_t kMinuteLength = 16;

// The length of the part that a whole hour or minute with an offset has before the offset, as in
// "2020-03-01T12:30Z"; 0 for other texts.
size_t LengthBeforeOffset(std::string_view text) {
  for (const size_t length : {kHourLength, kMinuteLength}) {
    const bool has_more = text.size() > length && text[kDateLength] == 'T';
    if (has_more && std::string_view("Zz+-").find(text[length]) != text.npos) return length;
  }
  return 0;
}

// The years that an Instant can hold from the first to the last second, whatever the offset.
constexpr std::string_view kFirstYear = "1678";
constexpr std::string_view kLastYear = "2261";

bool IsYear(std::string_view text) {
  return text.size() == kYearDigits && text.find_first_not_of("0123456789") == text.npos;
}

// The same text with a year that an Instant can hold and that has as many days.
std::string WithUsualYear(std::string_view text) {
  const int year = std::stoi(std::string(text.substr(0, kYearDigits)));
  const bool is_leap = std::chrono::year(year).is_leap();
  return (is_leap ? "2000" : "2001") + std::string(text.substr(kYearDigits));
}

}  // namespace

std::optional<Period> ParsePeriod(std::string_view text, Duration whole_time) {
  const std::string_view year = text.substr(0, kYearDigits);
  if (IsYear(year) && (year < kFirstYear || year > kLastYear)) {
    if (!ParsePeriod(WithUsualYear(text), whole_time)) return std::nullopt;
    if (year < kFirstYear) return Period{Instant::min(), Instant::min() + Duration(1)};
    return Period{Instant::max() - Duration(1), Instant::max()};
  }
  std::string whole(text);
  if (IsBeginning(text.size())) {
    whole += kWhole.substr(text.size());
    const auto first = ParseRfc3339(whole + "Z");
    if (!first) return std::nullopt;
    return Period{*first, EndOf(*first, text.size())};
  }
  if (const size_t length = LengthBeforeOffset(text)) {
    whole.insert(length, kWhole.substr(length));
    const auto first = ParseRfc3339(whole);
    if (!first) return std::nullopt;
    return Period{*first, EndOf(*first, length)};
  }
  auto first = ParseRfc3339(whole);
  if (!first) first = ParseRfc3339(whole + "Z");
  if (!first) return std::nullopt;
  return Period{*first, *first + whole_time};
}

}  // namespace caip
