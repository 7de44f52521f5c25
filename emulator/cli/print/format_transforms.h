#pragma once
// The transforms of a key of --format, `createTime.date('%H:%M')`: those of gcloud's (`gcloud topic
// projections`) that are useful for a job.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// One call with its parsed arguments. Pure.
struct Transform {
  std::function<Json(const Json&)> apply;
  bool mapped = false;  // after map(): applied to each element of a list
};

/// The arguments between the parentheses.
struct TransformArguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string> named;
};

/// Error: an unknown transform, or arguments that it does not take.
Result<Transform> MakeTransform(const std::string& name, const TransformArguments& arguments);

/// Applies the transforms one after another.
Json Transformed(Json value, const std::vector<Transform>& transforms);

/// A value as Python's str() has it, which is how gcloud prints what lies within lists and maps:
/// texts bare, True, 1.0, {'a': 'b'} with sorted keys; null is "".
std::string PythonText(const Json& value);

}  // namespace caip::cli
