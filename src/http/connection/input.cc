#include "http/connection/input.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "http/message.h"

namespace caip::http {
namespace {

constexpr std::string_view kCoding = "transfer-encoding:";
constexpr std::string_view kLength = "content-length:";

// The field's value in lower case; nullopt if the line has another field.
std::optional<std::string> ReadFieldValue(std::string_view line, std::string_view field) {
  if (!IsSameFieldName(line.substr(0, field.size()), field)) return std::nullopt;
  return LowerCase(Trim(line.substr(field.size())));
}

void HideFieldName(std::span<char> bytes, size_t at) { bytes[at] = bytes[at + 1] = 'x'; }

}  // namespace

bool ResolveFraming(std::span<char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  const size_t end = text.find("\r\n\r\n");
  if (end == text.npos) return false;
  bool chunked = false;
  std::optional<size_t> length;
  for (size_t begin = 0, line_end = 0; begin < end; begin = line_end + 2) {
    line_end = text.find("\r\n", begin);
    const std::string_view line = text.substr(begin, line_end - begin);
    if (const auto coding = ReadFieldValue(line, kCoding)) {
      if (*coding == "identity") HideFieldName(bytes, begin);
      chunked = chunked || *coding == "chunked";
    } else if (!length && ReadFieldValue(line, kLength)) {
      length = begin;  // a second one stays, and the parser refuses it
    }
  }
  if (!chunked || !length) return false;
  HideFieldName(bytes, *length);
  return true;
}

}  // namespace caip::http
