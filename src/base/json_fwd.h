#pragma once
// Declares the JSON tree, for headers. A .cc file that uses one includes "base/json.h".

#include <nlohmann/json_fwd.hpp>

namespace caip {

template <class Key, class T, class Less, class Allocator>
class JsonObject;

/// A JSON tree whose objects keep their members in the order of insertion.
using Json = nlohmann::basic_json<JsonObject>;

}  // namespace caip
