#pragma once
// ${name} in case files, and the few forms that write long values shortly.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/result.h"

namespace conform {

using Json = nlohmann::json;

/// What a name stands for; nullopt: not known (yet).
using Lookup = std::function<std::optional<Json>(const std::string& name)>;

/// Fills ${name} in texts and keys. A text that is nothing but one ${name} becomes the value
/// itself, whatever its type. ${x*128} is x 128 times. Names that `lookup` does not know stay.
Json Fill(const Json& tree, const Lookup& lookup);
/// The names that are still there, each once.
std::vector<std::string> NamesIn(const Json& tree);

/// {$range: [first, count]} -> numbers; {$repeat: value, times: n} -> a list;
/// {$concat: [list, list]} -> one list; {$keys: prefix, times: n, value: v} -> a map;
/// {$merge: [map, map]} -> one map, in which the later one wins.
Json Generate(const Json& tree);

}  // namespace conform
