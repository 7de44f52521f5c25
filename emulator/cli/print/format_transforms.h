#pragma once
// What a key of --format may be turned into, `createTime.date('%H:%M')`: gcloud's transforms
// (`gcloud topic projections`) that make sense of a job.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// One call, its arguments read. Pure.
struct Transform {
  std::function<Json(const Json&)> apply;
  bool mapped = false;  // behind map(): for each element of a list
};

/// What stands between the parentheses.
struct TransformArguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string> named;
};

/// Error: no such transform, or arguments that it does not take.
Result<Transform> MakeTransform(const std::string& name, const TransformArguments& arguments);

/// One behind the other.
Json Transformed(Json value, const std::vector<Transform>& transforms);

/// A value as Python's str() has it, which is how gcloud prints what lies within lists and maps:
/// texts bare, True, 1.0, {'a': 'b'} with sorted keys; null is "".
std::string PythonText(const Json& value);

}  // namespace caip::cli
