#include "images/tar_header.h"

#include <algorithm>

#include "base/text.h"

namespace caip::images {

std::string TarHeader::Text(Field field) const {
  const std::string_view raw = Raw(field);
  return std::string(raw.substr(0, raw.find('\0')));
}

std::string TarHeader::Path() const {
  const std::string name = Text(kName);
  if (Raw(kMagic) != std::string_view("ustar\0", 6)) return name;
  const std::string prefix = Text(kPrefix);
  return prefix.empty() ? name : prefix + "/" + name;
}

bool TarHeader::IsZero() const {
  return std::all_of(bytes_.begin(), bytes_.end(), [](char c) { return c == '\0'; });
}

bool TarHeader::HasRightChecksum() const {
  int64_t plain = 0;
  int64_t with_signs = 0;  // as some old programs computed it
  for (size_t i = 0; i < bytes_.size(); ++i) {
    const bool is_sum = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    const char c = is_sum ? ' ' : bytes_[i];
    plain += static_cast<unsigned char>(c);
    with_signs += static_cast<signed char>(c);
  }
  const auto sum = TarNumber(Raw(kChecksum));
  return sum && (*sum == plain || *sum == with_signs);
}

std::optional<int64_t> TarNumber(std::string_view field) {
  const auto first = static_cast<unsigned char>(field.front());
  if ((first & 0x80) != 0) {
    const bool is_negative = (first & 0x40) != 0;
    uint64_t value = is_negative ? ~uint64_t{0} : 0;
    for (size_t i = 0; i < field.size(); ++i) {
      auto byte = static_cast<unsigned char>(field[i]);
      if (i == 0 && !is_negative) byte &= 0x7f;
      const uint64_t lost = value >> 55;
      if (lost != 0 && lost != 0x1ff) return std::nullopt;
      value = value << 8 | byte;
    }
    return static_cast<int64_t>(value);
  }
  uint64_t value = 0;
  size_t at = std::min(field.find_first_not_of(' '), field.size());
  for (; at < field.size() && field[at] >= '0' && field[at] <= '7'; ++at) {
    value = value * 8 + static_cast<uint64_t>(field[at] - '0');
  }
  if (at < field.size() && field[at] != '\0' && field[at] != ' ') return std::nullopt;
  return static_cast<int64_t>(value);
}

bool ReadTime(std::string_view text, int64_t& seconds, long& nanoseconds) {
  const size_t dot = std::min(text.find('.'), text.size());
  if (!ReadDecimal(text.substr(0, dot), seconds)) return false;
  std::string fraction(text.substr(std::min(dot + 1, text.size())));
  fraction.resize(9, '0');
  return IsDigits(fraction) && ReadDecimal(std::string_view(fraction), nanoseconds);
}

}  // namespace caip::images
