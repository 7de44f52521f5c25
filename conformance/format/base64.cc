#include "conformance/format/base64.h"

#include <string_view>

namespace conform {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> FromBase64(const std::string& text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t end = text.find_last_not_of('=') + 1;
  if (text.size() - end > 2) return std::nullopt;
  std::string bytes;
  unsigned bits = 0;
  for (size_t i = 0; i < end; ++i) {
    const size_t value = kLetters.find(text[i]);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(value);
    if (i % 4 != 0) bytes += static_cast<char>(bits >> (6 - 2 * (i % 4)) & 0xFF);
  }
  return bytes;
}

}  // namespace conform
