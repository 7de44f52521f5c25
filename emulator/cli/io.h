#pragma once
// Where a command writes. Tests hand in strings, main the two streams.

#include <functional>
#include <string_view>

namespace caip::cli {

/// The two sinks of a command. Written by one thread at a time; each call is written at once.
struct Io {
  std::function<void(std::string_view)> out;
  std::function<void(std::string_view)> err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

}  // namespace caip::cli
