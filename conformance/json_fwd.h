#pragma once
// Declares the JSON tree, for headers. Files that use one include <nlohmann/json.hpp>.

#include <nlohmann/json_fwd.hpp>

namespace conform {

using Json = nlohmann::json;

}  // namespace conform
