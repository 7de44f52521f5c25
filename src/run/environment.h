#pragma once
// Environment variables of a replica.

#include <string>
#include <utility>
#include <vector>

namespace caip::run {

using Environment = std::vector<std::pair<std::string, std::string>>;  // in order, names unique

}  // namespace caip::run
