#pragma once
// Commands as texts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caip::app {

/// The words of a command as a POSIX shell splits them: blanks, '..', "..", backslash. Nothing is
/// expanded. nullopt on an open quote.
std::optional<std::vector<std::string>> ShellWords(std::string_view text);

}  // namespace caip::app
