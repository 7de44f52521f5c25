#pragma once
// Shows a mistake in a file: its place, what is wrong, the line, and a caret below it.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip {

/// kInvalidArgument "<name>:<line>:<column>: <what>" and an excerpt. `line` and `column` from 0.
Error YamlError(std::string_view text, std::string_view name, int line, int column,
                const std::string& what);

/// UTF-8 without the control characters that YAML forbids.
Status CheckYamlCharacters(std::string_view text, std::string_view name);

}  // namespace caip
