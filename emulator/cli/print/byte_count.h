#pragma once
// Numbers of bytes as people read them.

#include <cstdint>
#include <string>

namespace caip::cli {

/// "512 B", "1.2 GiB": two digits or more.
std::string ByteCountText(uint64_t bytes);

}  // namespace caip::cli
