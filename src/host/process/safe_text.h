#pragma once
// Bytes of a program's output -> text that JSON and SQLite can hold.

#include <string>
#include <string_view>

namespace caip::host {

/// True for UTF-8 without NUL; fast where the text is ASCII.
bool IsSafeText(std::string_view bytes);

/// Each NUL and each maximal ill-formed sequence becomes U+FFFD; all else stays.
std::string SafeText(std::string_view bytes);

/// Where to cut text of which `bytes` is the beginning, so that no character is torn: the size, or
/// up to three bytes before.
size_t WholeCharacters(std::string_view bytes);

}  // namespace caip::host
