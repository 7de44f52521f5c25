#pragma once
// Quotes around values: in messages for people, and in words for a shell.

#include <string>
#include <string_view>

namespace caip {

/// 'value', as error messages show a value. Quotes inside the value stay as they are.
std::string Quoted(std::string_view value);

/// A word that a POSIX shell reads back as `word`. Adds quotes only where they are needed.
std::string ShellQuoted(std::string_view word);

}  // namespace caip
