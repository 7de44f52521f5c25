#pragma once
// Escapes text for HTML and XML.

#include <string>
#include <string_view>

namespace caip {

/// The text for an element or a quoted attribute. & < > " become entities. Control characters,
/// which XML 1.0 cannot express, become blanks, except for line ends and tabs.
std::string MarkupText(std::string_view text);

}  // namespace caip
