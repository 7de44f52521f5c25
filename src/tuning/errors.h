#pragma once
// The texts of the tuning module.

#include <string_view>

#include "base/result.h"

namespace caip::tuning::errors {

Error ValueMissing(std::string_view parameter);
Error ValueOutside(std::string_view parameter, std::string_view text);
Error ParameterNotCalledFor(std::string_view parameter);

}  // namespace caip::tuning::errors
