#pragma once
// The name of our JSON tree, for headers. Bodies include "base/json.h".

#include <nlohmann/json_fwd.hpp>

namespace caip {

/// A JSON tree whose objects keep the order in which their members were put in.
using Json = nlohmann::ordered_json;

}  // namespace caip
