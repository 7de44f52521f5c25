#pragma once
// The files of src/spec/data as text; module.cmake writes the bodies.

#include <string_view>

namespace caip::spec::embedded {

std::string_view Catalog();
std::string_view Letters();

}  // namespace caip::spec::embedded
