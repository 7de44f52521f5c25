#pragma once
// Finds the name that a mistyped word was meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace caip {

/// The name nearest to a mistyped word, ignoring case; "" if none is near enough.
std::string NearestName(std::string_view word, const std::vector<std::string>& names);

}  // namespace caip
