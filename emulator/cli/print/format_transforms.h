#pragma once
// The transforms of a key of --format, `createTime.date('%H:%M')`: the transforms of gcloud
// (`gcloud topic projections`) that are useful for a job.

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

/// Fails for an unknown transform, and for arguments that the transform does not take.
Result<Transform> MakeTransform(const std::string& name, const TransformArguments& arguments);

/// Applies the transforms one after another.
Json Transformed(Json value, const std::vector<Transform>& transforms);

/// Formats a value like Python's str(), as gcloud does: texts without quotes, True, 1.0, {'a': 'b'}
/// with sorted keys. null is "".
std::string PythonText(const Json& value);

}  // namespace caip::cli
