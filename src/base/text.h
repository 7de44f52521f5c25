#pragma once
// Small text work: joining, times and durations as Google's APIs write them, base64, hex.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace caip {

std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);
std::string LowerCase(std::string_view text);
std::string UpperCase(std::string_view text);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
bool IsUtf8(std::string_view text);

/// A word that a POSIX shell reads back as `word`; quoted only where needed.
std::string ShellQuoted(std::string_view word);

/// RFC 3339 in UTC with exactly `fraction_digits` (0, 3, 6 or 9): 2022-02-09T17:36:42Z.
std::string Rfc3339(Instant instant, int fraction_digits = 0);
/// Any RFC 3339 time with 0 to 9 fraction digits and any offset.
std::optional<Instant> ParseRfc3339(std::string_view text);

/// proto3 JSON: "3600s", "1.5s"; up to nine fraction digits; nothing else.
std::optional<Duration> ParseProtoDuration(std::string_view text);
std::string ProtoDuration(Duration duration);
/// What people write: "90s", "20m", "1h30m", "250ms", "2d", "0".
std::optional<Duration> ParseDuration(std::string_view text);
/// What people read: "0.42s", "12.3s", "4m 05s", "2h 03m".
std::string HumanDuration(Duration duration);

std::string Base64(std::string_view bytes);
std::optional<std::string> FromBase64(std::string_view text);
std::string Hex(std::string_view bytes);

/// %XX for all but unreserved characters (RFC 3986); `keep` are left as they are, too.
std::string PercentEncoded(std::string_view text, std::string_view keep = "");
/// nullopt on a broken escape.
std::optional<std::string> PercentDecoded(std::string_view text);

}  // namespace caip
