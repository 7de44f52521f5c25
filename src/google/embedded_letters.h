#pragma once
// letters.json as text; src/google/module.cmake writes the body.

#include <string_view>

namespace caip::google::embedded {

std::string_view Letters();

}  // namespace caip::google::embedded
