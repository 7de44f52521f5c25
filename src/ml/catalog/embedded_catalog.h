#pragma once
// catalog.json as text; src/ml/module.cmake writes the body.

#include <string_view>

namespace caip::ml::embedded {

std::string_view Catalog();

}  // namespace caip::ml::embedded
