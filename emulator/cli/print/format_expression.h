#pragma once
// The value of --format, read: NAME[ATTRIBUTE,...](KEY,...), as gcloud has it (`gcloud topic
// formats`, `gcloud topic projections`). What caip cannot do is refused by name, never ignored.

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
  std::string name;              // a member, if neither of the others
  std::optional<int64_t> index;  // [2]; [-1] is the last
  bool each = false;             // []
};

/// One value that is to be shown.
struct FormatKey {
  std::vector<KeyStep> path;  // empty: the whole resource
  std::vector<Transform> transforms;
  std::optional<std::string> label;  // else made of the path
  std::optional<int64_t> sort;       // rows are ordered by the keys that have one, the least first
  bool reverse = false;              // of `sort`
  bool optional = false;             // a column that is left out when it is empty
  std::string align = "left";        // left, center, right
};

struct FormatExpression {
  std::string name;                               // one of FormatNames()
  std::map<std::string, std::string> attributes;  // without a value: ""
  std::vector<FormatKey> keys;

  bool Has(const std::string& attribute) const { return attributes.contains(attribute); }
  std::string Attribute(const std::string& attribute, const std::string& otherwise) const;
};

/// Every format there is, sorted: for help and errors.
const std::vector<std::string>& FormatNames();

/// kInvalidArgument tells what is not known or where the text is broken, and what to use instead.
Result<FormatExpression> ParseFormat(std::string_view text);

/// "trainingInput.args[0]".
std::string PathText(const std::vector<KeyStep>& path);

}  // namespace caip::cli
