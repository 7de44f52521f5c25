#pragma once
// Small operations on text: joining, splitting, trimming, letter case, replacing, digits, UTF-8,
// and the known name that is nearest to a mistyped word.

#include <string>
#include <string_view>
#include <vector>

namespace caip {

std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> Split(std::string_view text, char separator);
/// Without the ASCII white space at both ends.
std::string_view Trim(std::string_view text);
/// LowerCase and UpperCase change ASCII letters only.
std::string LowerCase(std::string_view text);
std::string UpperCase(std::string_view text);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
/// True for one or more decimal digits and nothing else.
bool IsDigits(std::string_view text);
bool IsUtf8(std::string_view text);
/// The number of bytes of the character at the head of `text`, which is not empty; 0 if those bytes
/// are not UTF-8.
size_t Utf8Length(std::string_view text);
/// The characters of valid UTF-8 text.
std::u32string DecodeUtf8(std::string_view text);
/// Appends a code point, which must be at most U+10FFFF.
void AppendUtf8(std::string& text, char32_t point);

/// The name nearest to a mistyped word, ignoring case; "" if none is near enough.
std::string NearestName(std::string_view word, const std::vector<std::string>& names);

}  // namespace caip
