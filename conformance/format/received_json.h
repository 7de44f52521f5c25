#pragma once
// JSON that an endpoint, a command or a replica has written.

#include <string>

#include "conformance/json_fwd.h"

namespace conform {

/// How deep arrays and objects may be inside each other. The service accepts 100 levels
/// (protobuf's JSON parser).
inline constexpr int kLevelsMax = 200;

/// Discarded (`is_discarded()`) for a text that is not JSON, or has more than kLevelsMax levels:
/// what walks through such a tree would need too much of the stack.
Json ParseReceived(const std::string& text);

}  // namespace conform
