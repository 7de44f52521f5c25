#pragma once
// Times and durations as text: as Google's APIs write them, and as people write and read them.

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace caip {

/// RFC 3339 in UTC with exactly `fraction_digits` (0, 3, 6 or 9): 2022-02-09T17:36:42Z.
std::string Rfc3339(Instant instant, int fraction_digits = 0);
/// Any RFC 3339 time with 0 to 9 fraction digits and any offset.
std::optional<Instant> ParseRfc3339(std::string_view text);

/// A duration of proto3 JSON: "3600s", "1.5s", with up to nine fraction digits.
std::optional<Duration> ParseProtoDuration(std::string_view text);
std::string ProtoDuration(Duration duration);
/// A duration as people write it: "90s", "20m", "1h30m", "250ms", "2d", "0".
std::optional<Duration> ParseDuration(std::string_view text);
/// A duration as people read it: "0.42s", "12.3s", "4m 05s", "2h 03m".
std::string HumanDuration(Duration duration);

}  // namespace caip
