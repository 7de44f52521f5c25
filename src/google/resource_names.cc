#include "google/resource_names.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/text.h"

namespace caip::google {
namespace {

constexpr size_t kNameLengthMax = 2048;  // longer ones are not worth a regular expression

// (std::regex is slower, and threads that make their first ones at the same time race for a table
// of the locale, which the thread sanitizer reports.)
bool Matches(std::string_view text, const RE2& pattern) {
  return text.size() <= kNameLengthMax &&
         RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace

bool IsNetworkName(std::string_view name) {
  static const RE2 kPattern(
      "projects/[0-9]+/global/networks/[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?", RE2::Latin1);
  return Matches(name, kPattern);
}

std::optional<std::string> LocationOfKmsKey(std::string_view name) {
  static const RE2 kPattern(
      "projects/[^/]+/locations/[a-z0-9-]+/keyRings/[A-Za-z0-9_-]{1,63}/"
      "cryptoKeys/[A-Za-z0-9_-]{1,63}",
      RE2::Latin1);
  if (!Matches(name, kPattern)) return std::nullopt;
  return Split(name, '/')[3];
}

bool IsServiceAccount(std::string_view account) {
  static const RE2 kPattern(R"([^@\s\v]+@[^@\s\v]+\.[^@\s\v.]+|[0-9]+)", RE2::Latin1);
  return Matches(account, kPattern);
}

bool IsImageUri(std::string_view uri) {
  static const RE2 kPattern(
      R"(([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?/)?)"              // registry
      R"([a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)"         // path
      R"((:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,})?)",  // tag, digest
      RE2::Latin1);
  return Matches(uri, kPattern);
}

bool IsPythonModule(std::string_view module) {
  const auto is_part = [](const std::string& part) {
    return !part.empty() && part.front() != '-' &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
             return c >= 0x80 || std::isalnum(c) || c == '_' || c == '-';
           });
  };
  const std::vector<std::string> parts = Split(module, '.');
  return std::all_of(parts.begin(), parts.end(), is_part);
}

}  // namespace caip::google
