#pragma once
// Resources as text in gcloud's formats.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace caip::client {

/// The names of an object's members, in the order in which gcloud prints them.
std::vector<std::string> SortedKeys(const Json& object);

/// YAML as gcloud prints it: with sorted keys, lists without indentation, quotes around strings
/// that would parse as another type, lines folded at 80 columns, and several lines as a block.
std::string YamlText(const Json& value);

/// JSON as gcloud prints it: with sorted keys and an indentation of two blanks.
std::string SortedJson(const Json& value);

/// The shortest text that parses as the same number, as Python's repr writes it: 1.0, 1e-09.
std::string PythonFloat(double value);

/// A number as gcloud prints a single one: with six digits, and always with a dot or an exponent.
std::string SixDigits(double value);

/// "2022-02-09T18:36:42" in local time without a zone, as gcloud's date(tz=LOCAL). Returns a text
/// that is not a time unchanged.
std::string LocalDate(std::string_view rfc3339);

/// The position of a scalar in the document.
struct ScalarPlace {
  int column = 0;       // of the first character
  int indent = 0;       // of the following lines
  bool is_key = false;  // keys are never folded
};

/// A string as a YAML scalar: plain, quoted or as a block. The choice and the folding are those of
/// gcloud's printer (ruamel.yaml for YAML 1.2).
std::string YamlScalar(std::string_view text, const ScalarPlace& place);

}  // namespace caip::client
