#pragma once
// Resources as text, as gcloud prints them.

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// YAML as gcloud's printer writes it: keys sorted, lists not indented, texts quoted where a reader
/// would take them for something else, folded at 80 columns, several lines as a block.
std::string YamlText(const Json& value);

/// JSON as gcloud's printer writes it: keys sorted, two blanks of indentation.
std::string SortedJson(const Json& value);

/// One resource by --format: yaml, json, none or value(KEY,...), where a KEY may have dots. Error:
/// any other format.
Result<std::string> FormatResource(const Json& resource, std::string_view format);

/// The same for several: yaml puts `---` before each, json makes a list.
Result<std::string> FormatResources(const Json& resources, std::string_view format);

/// "2022-02-09T18:36:42", in local time without a zone: gcloud's date(tz=LOCAL). Texts that are no
/// time stay as they are.
std::string LocalDate(std::string_view rfc3339);

}  // namespace caip::cli
