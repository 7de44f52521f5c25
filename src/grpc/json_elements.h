#pragma once
// The elements of a JSON array whose text arrives piece by piece.

#include <string>
#include <string_view>
#include <vector>

namespace caip::grpc {

/// Splits an array of objects, without reading them.
class JsonElements {
 public:
  /// Takes a piece of the text, and returns the texts of the objects that it completes.
  std::vector<std::string> Take(std::string_view piece);

 private:
  std::string element_;  // its text so far
  int depth_ = 0;        // of objects
  bool is_in_string_ = false;
  bool is_escaped_ = false;
};

}  // namespace caip::grpc
