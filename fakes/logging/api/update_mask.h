#pragma once
// The `updateMask` of an update: the members of a resource that the request changes.
// https://cloud.google.com/logging/docs/reference/v2/rest/v2/projects.sinks/patch

#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/logging/api/sink_checks.h"
#include "http/message.h"

namespace caip::logging {

/// A parsed field mask; immutable, any thread.
class UpdateMask {
 public:
  /// Reads the paths, in camelCase or snake_case. kInvalidArgument names all paths that are not
  /// members of the resource. `title`: "Sink".
  static Result<UpdateMask> Read(const http::Request& request,
                                 std::span<const ResourceMember> members, const std::string& title);
  /// True if the request has no path.
  bool is_empty() const { return paths_.empty(); }
  /// Returns the resource with the values of `given` at the paths. A member that `given` does not
  /// have is removed.
  Json Apply(Json present, const Json& given) const;

 private:
  std::vector<std::vector<std::string>> paths_;  // in camelCase: {"bigqueryOptions", ...}
};

}  // namespace caip::logging
