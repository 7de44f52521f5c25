#pragma once
// Which characters labels are made of, beyond ASCII too (data/letters.json).

#include <optional>
#include <string_view>
#include <vector>

namespace caip::google {

/// Unicode's Ll or Lo: a small letter, or a letter of a script that has no small and capital ones.
bool IsLowerOrCaselessLetter(char32_t c);
/// Unicode's Nd, Nl or No.
bool IsNumber(char32_t c);

/// The characters of UTF-8 text; nullopt when it is none.
std::optional<std::vector<char32_t>> CodePoints(std::string_view utf8);

}  // namespace caip::google
