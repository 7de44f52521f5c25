#include "fakes/gcs/calendar_time.h"

#include <charconv>
#include <cstdio>

#include "base/time_text.h"

namespace caip::gcs {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::microseconds;

// The calendar repeats after 400 years: the same dates have the same distances.
constexpr int kCycleYears = 400;
constexpr days kCycle{146'097};
constexpr int kFirstKnownYear = 1800;  // ParseRfc3339 reads the 400 years from here
constexpr int kYearsToCycle = 200;     // 2000 is a multiple of 400
constexpr size_t kYearDigits = 4;

constexpr CalendarTime kFirstTime = std::chrono::sys_days(std::chrono::January / 1 / 1);
constexpr CalendarTime kEndOfTimes = std::chrono::sys_days(std::chrono::January / 1 / 10'000);

std::optional<int> ReadYear(std::string_view text) {
  int year = 0;
  const char* end = text.data() + kYearDigits;
  if (text.size() < kYearDigits || text[0] == '-') return std::nullopt;
  const auto [rest, code] = std::from_chars(text.data(), end, year);
  return code == std::errc() && rest == end ? std::optional(year) : std::nullopt;
}

// As protobuf's JSON: no digits, three or six.
std::string FractionText(int microseconds_of_second) {
  constexpr int kOfAMillisecond = 1000;
  if (microseconds_of_second == 0) return "";
  const bool is_short = microseconds_of_second % kOfAMillisecond == 0;
  char text[8];
  std::snprintf(text, sizeof text, is_short ? ".%03d" : ".%06d",
                is_short ? microseconds_of_second / kOfAMillisecond : microseconds_of_second);
  return text;
}

}  // namespace

std::optional<CalendarTime> ParseCalendarTime(std::string_view text) {
  const auto year = ReadYear(text);
  if (!year) return std::nullopt;
  const int known = kFirstKnownYear + (*year + kYearsToCycle) % kCycleYears;
  const auto instant = ParseRfc3339(std::to_string(known) + std::string(text.substr(kYearDigits)));
  if (!instant) return std::nullopt;
  const CalendarTime time =
      floor<microseconds>(*instant) + kCycle * ((*year - known) / kCycleYears);
  return time >= kFirstTime && time < kEndOfTimes ? std::optional(time) : std::nullopt;
}

std::string CalendarText(CalendarTime time) {
  const auto day = floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text + FractionText(static_cast<int>(clock.subseconds().count())) + "Z";
}

std::string NormalTimeText(std::string text) {
  const auto time = ParseCalendarTime(text);
  return time ? CalendarText(*time) : text;
}

Instant NearestInstant(CalendarTime time) {
  if (time <= floor<microseconds>(Instant::min())) return Instant::min();
  if (time >= floor<microseconds>(Instant::max())) return Instant::max();
  return time;
}

}  // namespace caip::gcs
