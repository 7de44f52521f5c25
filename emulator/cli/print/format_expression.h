#pragma once
// The parsed value of --format: NAME[ATTRIBUTE,...](KEY,...), as in gcloud (`gcloud topic formats`,
// `gcloud topic projections`). Unsupported parts are rejected by name, never ignored.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emulator/cli/print/format_transforms.h"

namespace caip::cli {

/// One step on the way to a value: a member, an element, or each element.
struct KeyStep {
  std::string name;              // a member, if `index` and `each` are not set
  std::optional<int64_t> index;  // [2]; [-1] is the last
  bool each = false;             // []
};

/// One value to show.
struct FormatKey {
  std::vector<KeyStep> path;  // empty: the whole resource
  std::vector<Transform> transforms;
  std::optional<std::string> label;  // unset: made from the path
  std::optional<int64_t>
      sort;               // rows are sorted by the keys that have one, the smallest number first
  bool reverse = false;   // sorts in descending order
  bool optional = false;  // the column is left out if it is empty
  std::string align = "left";  // left, center, right
};

struct FormatExpression {
  std::string name;                               // one of FormatNames()
  std::map<std::string, std::string> attributes;  // the value is "" if none is given
  std::vector<FormatKey> keys;

  bool Has(const std::string& attribute) const { return attributes.contains(attribute); }
  std::string Attribute(const std::string& attribute, const std::string& otherwise) const;
};

/// All formats, sorted: for help and errors.
const std::vector<std::string>& FormatNames();

/// The error (kInvalidArgument) names the unknown part or the position of the mistake, and what to
/// use instead.
Result<FormatExpression> ParseFormat(std::string_view text);

/// "trainingInput.args[0]".
std::string PathText(const std::vector<KeyStep>& path);

}  // namespace caip::cli
