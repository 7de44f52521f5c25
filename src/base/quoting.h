#pragma once
// Quotes around values: in messages for people, and in words for a shell.

#include <string>
#include <string_view>

namespace caip {

/// 'value', as error messages show a value. Quotes inside the value stay unchanged.
std::string Quoted(std::string_view value);

/// A word that a POSIX shell reads back as `word`. Adds quotes only where they are needed.
std::string ShellQuoted(std::string_view word);

// Escapes text for HTML and XML.

/// The text for an element or a quoted attribute. & < > " become entities. Control characters,
/// which XML 1.0 cannot express, become blanks, except for line ends and tabs. U+FFFE and U+FFFF,
/// which it cannot express either, and bytes that are not UTF-8 become U+FFFD.
std::string MarkupText(std::string_view text);

}  // namespace caip
