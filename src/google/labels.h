#pragma once
// The labels of a job (docs/resource-labels), and the characters they are made of.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace caip::google {

// docs/resource-labels
inline constexpr size_t kLabelsMax = 64;
inline constexpr size_t kLabelLengthMax = 63;

/// A small letter first, international ones too, then such letters, numbers, '-' and '_'; at most
/// 63 characters.
bool IsLabelKey(std::string_view key);
/// The same characters in any order, or nothing.
bool IsLabelValue(std::string_view value);

// Characters beyond ASCII come from letters.json.

/// Unicode's Ll or Lo: a small letter, or a letter of a script that has no small and capital ones.
bool IsLowerOrCaselessLetter(char32_t c);
/// Unicode's Nd, Nl or No.
bool IsNumber(char32_t c);

/// The characters of UTF-8 text; nullopt when it is not valid.
std::optional<std::vector<char32_t>> CodePoints(std::string_view utf8);

}  // namespace caip::google
