#pragma once
// YAML text -> JSON tree, as PyYAML's safe loader reads it (YAML 1.1), with places kept for errors.

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace caip {

/// Where a value stands in its file, from 1.
struct Place {
  int line = 0;
  int column = 0;
};

/// A document and, by JSON pointer ("/trainingInput/region"), where each value stands.
struct YamlDocument {
  Json value;
  std::map<std::string, Place> places;
};

/// Limits against documents that explode: aliases are counted as if written out.
inline constexpr size_t kYamlBytesMax = 16u << 20;
inline constexpr size_t kYamlNodesMax = 1'000'000;
inline constexpr int kYamlDepthMax = 100;

/// Parses one document. Errors: kInvalidArgument "<name>:<line>:<column>: ...", with the line and a
/// caret below it. An empty document is JSON null. Scalars are typed by YAML 1.1, as PyYAML does:
/// yes/no/on/off are booleans, 1:30 is the number 90, 0o is text, 010 is eight, 2.4 a float, dates
/// are text. Mappings must have scalar keys (they become text); "<<" merges.
Result<YamlDocument> ParseYaml(std::string_view text, std::string_view name);

}  // namespace caip
