#pragma once
// What is wrong with the syntax of --format, in gcloud's words: the sentences of
// errors::FormatBroken.

namespace caip::cli::format_texts {

inline constexpr const char* kPartExpected = "[ATTRIBUTES], (KEYS) or the end expected";
inline constexpr const char* kQuoteOpen = "Unterminated quote";
inline constexpr const char* kValueExpected = "= and a value expected";
inline constexpr const char* kNoValueExpected = "No value expected";
inline constexpr const char* kNumberExpected = "A number expected";
inline constexpr const char* kAttributesOpen = "Expected ] in attribute list";
inline constexpr const char* kProjectionOpen = "Expected ) in projection expression";
inline constexpr const char* kTransformExpected = "A transform expected";
inline constexpr const char* kTransformAfterMap = "A transform expected after map()";
inline constexpr const char* kKeyExpected = "Non-empty key name expected";
inline constexpr const char* kIndexOpen = "] expected";
inline constexpr const char* kArgumentsOpen = "Closing ) expected in argument list";
inline constexpr const char* kArgumentExpected = "Argument expected";

}  // namespace caip::cli::format_texts
