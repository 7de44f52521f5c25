#include "http/connection/framing.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "http/field_name.h"

namespace caip::http {
namespace {

constexpr std::string_view kCoding = "transfer-encoding:";
constexpr std::string_view kLength = "content-length:";

// The field's value in small letters, where the line is that field.
std::optional<std::string> ValueOf(std::string_view line, std::string_view field) {
  if (!SameFieldName(line.substr(0, field.size()), field)) return std::nullopt;
  return LowerCase(Trim(line.substr(field.size())));
}

void Hide(std::span<char> bytes, size_t at) { bytes[at] = bytes[at + 1] = 'x'; }

}  // namespace

bool SettleFraming(std::span<char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  const size_t end = text.find("\r\n\r\n");
  if (end == text.npos) return false;
  bool chunked = false;
  std::optional<size_t> length;
  for (size_t begin = 0, line_end = 0; begin < end; begin = line_end + 2) {
    line_end = text.find("\r\n", begin);
    const std::string_view line = text.substr(begin, line_end - begin);
    if (const auto coding = ValueOf(line, kCoding)) {
      if (*coding == "identity") Hide(bytes, begin);
      chunked = chunked || *coding == "chunked";
    } else if (!length && ValueOf(line, kLength)) {
      length = begin;  // a second one stays, and is refused
    }
  }
  if (!chunked || !length) return false;
  Hide(bytes, *length);
  return true;
}

}  // namespace caip::http
