#pragma once
// The target of a request line: a raw path and a decoded query.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::http {

struct Target {
  std::string path;  // still %-encoded, because %2F is not a separator
  std::vector<std::pair<std::string, std::string>> query;
  std::string authority = {};  // "host:port" of a whole URL; "" if the target is a path
};

/// Reads "/path?a=b" and "http://host/path?a=b". nullopt: the text has neither form, or an escape
/// in its query is broken. `+` in a query is a blank.
std::optional<Target> ParseTarget(std::string_view text);

}  // namespace caip::http
