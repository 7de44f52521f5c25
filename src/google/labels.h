#pragma once
// What may be a label of a job (docs/resource-labels).

#include <string_view>

namespace caip::google {

/// A small letter first, international ones too, then such letters, numbers, '-' and '_'; at most
/// 63 characters.
bool IsLabelKey(std::string_view key);
/// The same characters in any order, or nothing.
bool IsLabelValue(std::string_view value);

}  // namespace caip::google
