#pragma once
// Reads YAML text into a JSON tree as ruamel.yaml's safe loader does (YAML 1.1), with places for
// errors.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace caip {

/// The position of a value in its file. Lines and columns count from 1.
struct Place {
  int line = 0;
  int column = 0;
};

/// A document, and the place of each value by its JSON pointer ("/trainingInput/region"). The value
/// of an alias (*name) has the place of the alias.
struct YamlDocument {
  Json value;
  std::map<std::string, Place> places;
  std::map<std::string, Place> key_places;  // of the keys of members, by the same pointers
  /// Keys that occur twice in one mapping. The first value counts, as in the reader that gcloud
  /// uses. A caller that need not follow gcloud should reject them.
  std::vector<std::string> duplicates;
  std::vector<Place> duplicate_places;  // of the later value of each duplicate
  /// Plain scalars that are dates in YAML 1.1. They are kept as text; gcloud cannot send them.
  std::vector<std::string> dates;
};

/// Limits against documents whose aliases expand to a huge size. An alias counts as if it were
/// expanded.
inline constexpr size_t kYamlBytesMax = 16u << 20;
inline constexpr size_t kYamlNodesMax = 1'000'000;
inline constexpr int kYamlDepthMax = 100;

/// Parses one document. Errors: kInvalidArgument "<name>:<line>:<column>: ...", with the line and a
/// caret below it. An empty document is JSON null. Scalars are typed by YAML 1.1, as gcloud's
/// reader (ruamel.yaml) does: y/n/yes/no/on/off are booleans, 1:30 is the number 90, 0o is text,
/// 010 is eight, 2.4 and 1e3 are floats, dates are text. An integer too large for 64 bits becomes a
/// float. Mappings must have scalar keys (they become text); "<<" merges.
Result<YamlDocument> ParseYaml(std::string_view text, std::string_view name);

}  // namespace caip
