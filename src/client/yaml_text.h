#pragma once
// Resources as text, as gcloud prints them.

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace caip::client {

/// YAML as gcloud's printer writes it: keys sorted, lists not indented, texts quoted where a reader
/// would take them for something else, folded at 80 columns, several lines as a block.
std::string YamlText(const Json& value);

/// JSON as gcloud's printer writes it: keys sorted, two blanks of indentation.
std::string SortedJson(const Json& value);

/// The shortest text that is read back as the same number, as Python's repr: 1.0, 1e-09.
std::string PythonFloat(double value);

/// A number as gcloud shows one that stands alone: six digits, and never without a dot or an
/// exponent.
std::string SixDigits(double value);

/// "2022-02-09T18:36:42", in local time without a zone: gcloud's date(tz=LOCAL). Texts that are no
/// time stay as they are.
std::string LocalDate(std::string_view rfc3339);

// One text as a YAML scalar: plain, quoted or as a block, as gcloud's printer (ruamel.yaml, version
// 1.2) chooses and folds.

/// Where the scalar will stand.
struct ScalarPlace {
  int column = 0;       // of its first character
  int indent = 0;       // of its further lines
  bool is_key = false;  // keys are never folded
};

std::string YamlScalar(std::string_view text, const ScalarPlace& place);

}  // namespace caip::client
