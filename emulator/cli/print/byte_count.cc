#include "emulator/cli/print/byte_count.h"

#include <cstdio>
#include <iterator>

namespace caip::cli {

std::string ByteCountText(uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  double value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  char text[32];
  const bool is_short = unit == 0 || value >= 10;
  std::snprintf(text, sizeof text, is_short ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace caip::cli
