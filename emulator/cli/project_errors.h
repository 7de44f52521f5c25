#pragma once
// Texts about the project that a command is to work in, beside those of errors.h.

#include <string_view>

#include "base/result.h"

namespace caip::cli::errors {

Error ProjectNotAnId(std::string_view project);
Error ProjectNumberGiven();

}  // namespace caip::cli::errors
