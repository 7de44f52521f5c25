#pragma once
// Texts about --format, beside UnknownFormat of errors.h. Usage errors: each begins with "argument
// --format: ", says what is not known, and what there is instead.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::cli::errors {

Error FormatNotTaken();
Error FormatNeedsKeys(std::string_view format);
/// `place` is the text with *HERE* where it is broken.
Error FormatBroken(std::string_view what, std::string_view place);
Error FormatAttributeUnknown(std::string_view format, std::string_view attribute,
                             const std::vector<std::string>& known);
Error KeyAttributeUnknown(std::string_view attribute, bool table);
Error TransformUnknown(std::string_view transform, const std::vector<std::string>& known);
Error TransformTakes(std::string_view transform, const std::vector<std::string>& parameters);
Error TransformArgument(std::string_view transform, std::string_view parameter,
                        std::string_view value, std::string_view rule);

}  // namespace caip::cli::errors
