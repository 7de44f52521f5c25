#pragma once
// ${name} in case files, and short forms of long values.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/json_fwd.h"
#include "conformance/result.h"

namespace conform {

/// The value of a name; nullopt: not known (yet).
using Lookup = std::function<std::optional<Json>(const std::string& name)>;

/// Fills ${name} in texts and keys. A text that consists of one ${name} becomes the value itself,
/// of any type. ${x*128} repeats x 128 times. Names without a value stay.
Json Fill(const Json& tree, const Lookup& lookup);
/// The remaining names, each once.
std::vector<std::string> NamesIn(const Json& tree);

/// Expands {$range: [first, count]} to numbers, {$repeat: value, times: n} and {$concat: [list,
/// list]} to a list, {$keys: prefix, times: n, value: v} and {$merge: [map, map]} to a map. In
/// $merge the later map wins. ${#} in the value of $repeat is the position, from 0.
Json Generate(const Json& tree);

}  // namespace conform
