#include "base/time_text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace caip {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

// Reads exactly `digits` decimal digits off the head of `text`.
bool TakeNumber(std::string_view& text, size_t digits, int& value) {
  if (text.size() < digits) return false;
  value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// Reads ".25" as 250'000'000 ns. False for more than nine digits, or none after the point.
bool TakeFraction(std::string_view& text, int64_t& nanoseconds) {
  nanoseconds = 0;
  if (!TakeChar(text, ".")) return true;
  int64_t scale = 100'000'000;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (++digits > 9) return false;
    nanoseconds += (text.front() - '0') * scale;
    scale /= 10;
    text.remove_prefix(1);
  }
  return digits > 0;
}

bool TakeOffset(std::string_view& text, seconds& offset) {
  offset = seconds(0);
  if (TakeChar(text, "Zz")) return true;
  const bool west = !text.empty() && text.front() == '-';
  int offset_hours = 0;
  int offset_minutes = 0;
  if (!TakeChar(text, "+-") || !TakeNumber(text, 2, offset_hours) || !TakeChar(text, ":") ||
      !TakeNumber(text, 2, offset_minutes)) {
    return false;
  }
  offset = seconds((offset_hours * 60 + offset_minutes) * 60 * (west ? -1 : 1));
  return true;
}

constexpr int64_t kDurationSecondsMax = 315'576'000'000;  // google/protobuf/duration.proto

}  // namespace

// Formats by hand for speed, because each log line and each listed object has times.
std::string Rfc3339(Instant instant, int fraction_digits) {
  const auto day = floor<days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(instant - day);
  std::string text = "0000-00-00T00:00:00.000000000";
  const auto put = [&](size_t begin, size_t end, int64_t number) {
    for (size_t at = end; at-- > begin; number /= 10) {
      text[at] = static_cast<char>('0' + number % 10);
    }
  };
  put(0, 4, static_cast<int>(date.year()));  // an Instant is between 1677 and 2262
  put(5, 7, static_cast<unsigned>(date.month()));
  put(8, 10, static_cast<unsigned>(date.day()));
  put(11, 13, time.hours().count());
  put(14, 16, time.minutes().count());
  put(17, 19, time.seconds().count());
  put(20, 29, time.subseconds().count());
  text.resize(fraction_digits > 0 ? 20 + static_cast<size_t>(std::min(fraction_digits, 9)) : 19);
  text += 'Z';
  return text;
}

std::optional<Instant> ParseRfc3339(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int64_t nanoseconds = 0;
  seconds offset{0};
  const bool read = TakeNumber(text, 4, year) && TakeChar(text, "-") &&
                    TakeNumber(text, 2, month) && TakeChar(text, "-") && TakeNumber(text, 2, day) &&
                    TakeChar(text, "Tt ") && TakeNumber(text, 2, hour) && TakeChar(text, ":") &&
                    TakeNumber(text, 2, minute) && TakeChar(text, ":") &&
                    TakeNumber(text, 2, second) && TakeFraction(text, nanoseconds) &&
                    TakeOffset(text, offset) && text.empty();
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!read || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (year < 1678 || year > 2261) return std::nullopt;  // the range of 64 bits of nanoseconds
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         seconds(second) - offset + Duration(nanoseconds);
}

std::optional<Duration> ParseProtoDuration(std::string_view text) {
  const bool negative = TakeChar(text, "-");
  int64_t whole = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (code != std::errc() || text.front() == '-' || whole > kDurationSecondsMax)
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  int64_t nanoseconds = 0;
  if (!TakeFraction(text, nanoseconds) || text != "s") return std::nullopt;
  if (whole > Duration::max().count() / 1'000'000'000 - 1) {
    return negative ? -Duration::max() : Duration::max();
  }
  const Duration duration = seconds(whole) + Duration(nanoseconds);
  return negative ? -duration : duration;
}

std::string ProtoDuration(Duration duration) {
  const auto count = duration.count();
  std::string text = count < 0 ? "-" : "";
  const auto magnitude = count < 0 ? -count : count;
  text += std::to_string(magnitude / 1'000'000'000);
  if (auto fraction = magnitude % 1'000'000'000; fraction != 0) {
    char digits[16];
    std::snprintf(digits, sizeof digits, ".%09lld", static_cast<long long>(fraction));
    std::string_view shown = digits;
    while (shown.back() == '0') shown.remove_suffix(1);
    text += shown;
  }
  return text + "s";
}

std::optional<Duration> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr Unit kUnits[] = {{"ms", 1e6}, {"us", 1e3},   {"ns", 1},     {"s", 1e9},
                             {"m", 6e10}, {"h", 3.6e12}, {"d", 8.64e13}};
  if (text == "0") return Duration(0);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (code != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (!unit && text.starts_with(candidate.name)) unit = &candidate;
    }
    if (!unit) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * unit->nanoseconds;
  }
  if (total > 9e18) return std::nullopt;
  return Duration(static_cast<int64_t>(total + 0.5));
}

std::string HumanDuration(Duration duration) {
  const double count = std::chrono::duration<double>(duration).count();
  char text[64];
  if (count < 10) {
    std::snprintf(text, sizeof text, "%.2fs", count);
  } else if (count < 60) {
    std::snprintf(text, sizeof text, "%.1fs", count);
  } else if (const auto whole = static_cast<long long>(count); whole < 3600) {
    std::snprintf(text, sizeof text, "%lldm %02llds", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lldh %02lldm", whole / 3600, whole / 60 % 60);
  }
  return text;
}

}  // namespace caip
