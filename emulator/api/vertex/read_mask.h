#pragma once
// The `readMask` of a list: the fields of each item that the answer has.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::api {

/// A parsed field mask; immutable, any thread.
class ReadMask {
 public:
  /// Selects everything.
  ReadMask() = default;
  /// Paths in either spelling, "name,job_spec.scheduling"; blank text or "*" selects everything.
  /// kInvalidArgument: a path is empty. A path that no field has selects nothing.
  static Result<ReadMask> Parse(std::string_view text);

  Json Of(const Json& message) const;

 private:
  std::vector<std::vector<std::string>> paths_;  // in lowerCamelCase
};

}  // namespace caip::api
