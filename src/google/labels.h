#pragma once
// The labels of a job (docs/service/api.md, section 7), and the characters they are made of.

#include <cstddef>
#include <string_view>

namespace caip::google {

// docs/service/api.md, section 7: Job.
inline constexpr size_t kLabelsMax = 64;
inline constexpr size_t kLabelLengthMax = 63;

/// True for a lowercase or caseless letter of any script, followed by such letters, numbers, '-'
/// and
/// '_'; at most 63 characters.
bool IsLabelKey(std::string_view key);
/// True for at most 63 of the same characters in any order, and for "".
bool IsLabelValue(std::string_view value);

// Characters beyond ASCII come from letters.json.

/// Unicode's Ll or Lo: a lowercase letter, or a letter of a script without cases.
bool IsLowerOrCaselessLetter(char32_t c);
/// Unicode's Nd, Nl or No.
bool IsNumber(char32_t c);

}  // namespace caip::google
