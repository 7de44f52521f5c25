#pragma once
// One text as a YAML scalar: plain, quoted or as a block, as gcloud's printer (ruamel.yaml, version
// 1.2) chooses and folds.

#include <string>
#include <string_view>

namespace caip::client {

/// Where the scalar will stand.
struct ScalarPlace {
  int column = 0;       // of its first character
  int indent = 0;       // of its further lines
  bool is_key = false;  // keys are never folded
};

std::string YamlScalar(std::string_view text, const ScalarPlace& place);

}  // namespace caip::client
