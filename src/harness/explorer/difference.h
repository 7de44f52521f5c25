#pragma once
// What a person is shown of two contents that are not the same.

#include <string>
#include <string_view>

namespace caip::harness {

/// The part of `bytes` in which it begins to differ from `other`: some sixty characters of a text,
/// else a few bytes in hexadecimal behind their place and the whole size.
std::string ExcerptAtDifference(std::string_view bytes, std::string_view other);

/// The line of a job's errorMessage that names what broke: the exception of a Python traceback,
/// also one whose message goes on over more lines, else the last line that says something.
std::string FindErrorLine(std::string_view error_message);

}  // namespace caip::harness
