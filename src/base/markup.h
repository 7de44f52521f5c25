#pragma once
// Text inside HTML and XML.

#include <string>
#include <string_view>

namespace caip {

/// As the text of an element or of a quoted attribute: & < > " by their names, control characters,
/// which XML 1.0 has no way to say, as blanks (not line ends and tabs).
std::string MarkupText(std::string_view text);

}  // namespace caip
