#pragma once
// YAML text -> JSON tree, as ruamel.yaml's safe loader reads it (YAML 1.1), with places for errors.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace caip {

/// Where a value stands in its file, from 1.
struct Place {
  int line = 0;
  int column = 0;
};

/// A document and, by JSON pointer ("/trainingInput/region"), where each value stands. What an
/// alias
/// (*name) stands for has one place, the alias's.
struct YamlDocument {
  Json value;
  std::map<std::string, Place> places;
  /// Keys written twice in one mapping. The first one counts, as the reader that gcloud uses has
  /// it; a caller that owes gcloud nothing should refuse them.
  std::vector<std::string> duplicates;
  std::vector<Place> duplicate_places;  // of their later values, one each
  /// Plain scalars that YAML 1.1 takes for dates. They are kept as text; gcloud cannot send them.
  std::vector<std::string> dates;
};

/// Limits against documents that explode: aliases are counted as if written out.
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
