#include "grpc/json_elements.h"

#include <utility>

namespace caip::grpc {

std::vector<std::string> JsonElements::Take(std::string_view piece) {
  std::vector<std::string> complete;
  for (const char c : piece) {
    const bool begins = !is_in_string_ && c == '{';
    const bool ends = !is_in_string_ && c == '}';
    if (begins) ++depth_;
    if (depth_ > 0) element_ += c;
    if (ends && --depth_ == 0) complete.push_back(std::exchange(element_, ""));
    if (c == '"' && !is_escaped_) is_in_string_ = !is_in_string_;
    is_escaped_ = is_in_string_ && c == '\\' && !is_escaped_;
  }
  return complete;
}

}  // namespace caip::grpc
