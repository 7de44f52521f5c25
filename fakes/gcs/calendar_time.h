#pragma once
// Times that clients store: any of the years 1 to 9999, which an Instant cannot hold.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace caip::gcs {

/// The service keeps microseconds: the system tests of its Python client expect the customTime that
/// they sent.
using CalendarTime = std::chrono::sys_time<std::chrono::microseconds>;

/// Reads any RFC 3339 time whose year in UTC is from 1 to 9999. Drops what is below a microsecond.
std::optional<CalendarTime> ParseCalendarTime(std::string_view text);

/// RFC 3339 in UTC, with no digits of the second's fraction, three or six.
std::string CalendarText(CalendarTime time);

/// Returns a valid time in the form of CalendarText, and any other text unchanged.
std::string NormalTimeText(std::string text);

/// The nearest instant.
Instant NearestInstant(CalendarTime time);

}  // namespace caip::gcs
