#pragma once
// Excerpts that show people where two contents differ.

#include <string>
#include <string_view>

namespace caip::harness {

/// The part of `bytes` in which it begins to differ from `other`: some sixty characters of a text,
/// or for other bytes the size, the offset and a few bytes in hexadecimal.
std::string ExcerptAtDifference(std::string_view bytes, std::string_view other);

/// The line of a job's errorMessage that names what broke: the exception of a Python traceback,
/// also one whose message goes on over more lines, else the last line that says something.
std::string FindErrorLine(std::string_view error_message);

}  // namespace caip::harness
