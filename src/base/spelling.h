#pragma once
// "Did you mean ...?"

#include <string>
#include <string_view>
#include <vector>

namespace caip {

/// The name that is nearest to a mistyped word, case aside; "" where none is near enough to be it.
std::string NearestName(std::string_view word, const std::vector<std::string>& names);

}  // namespace caip
