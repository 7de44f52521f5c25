#pragma once
// What an endpoint answers may hold control sequences, and the words of a command may, too.

#include <string>

namespace conform {

/// The text for people: control characters become "?", also those of ISO 6429 in UTF-8 (U+0080 to
/// U+009F). Line feeds, tabs and changes of the colour stay.
std::string ForPeople(const std::string& text);

}  // namespace conform
