#pragma once
// Names of header fields compare without case (RFC 9110, section 5.1). Private to src/http.

#include <algorithm>
#include <string_view>

namespace caip::http {

/// Without a copy in small letters: it is asked some hundred times for each request.
inline bool SameFieldName(std::string_view a, std::string_view b) {
  constexpr auto kLower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return kLower(x) == kLower(y); });
}

}  // namespace caip::http
