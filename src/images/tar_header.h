#pragma once
// The header of an entry of a tar archive: 512 bytes with fields of text and of numbers (POSIX,
// "ustar Interchange Format"; GNU tar manual, "Basic Tar Format").

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace caip::images {

inline constexpr uint64_t kTarBlock = 512;

/// The bytes of one header, as they are in the archive.
class TarHeader {
 public:
  struct Field {
    size_t offset;
    size_t size;
  };
  static constexpr Field kName{0, 100}, kMode{100, 8}, kUid{108, 8}, kGid{116, 8}, kSize{124, 12},
      kMtime{136, 12}, kChecksum{148, 8}, kTarget{157, 100}, kMagic{257, 6}, kPrefix{345, 155};
  // Of GNU's sparse files: four segments, whether more follow, and the size with holes.
  static constexpr Field kSegments{386, 96}, kIsExtended{482, 1}, kRealSize{483, 12};

  char* data() { return bytes_.data(); }
  static constexpr size_t size() { return kTarBlock; }
  std::string_view Raw(Field field) const { return {bytes_.data() + field.offset, field.size}; }
  /// The text up to the first zero byte.
  std::string Text(Field field) const;
  char type() const { return bytes_[156]; }
  /// The name, which has two fields in an ustar header.
  std::string Path() const;
  bool IsZero() const;
  bool HasRightChecksum() const;

 private:
  std::array<char, kTarBlock> bytes_{};
};

/// A number of a header: octal digits, or, after a byte with the highest bit set, a binary number.
std::optional<int64_t> TarNumber(std::string_view field);

/// A decimal number of a pax record, and nothing else.
template <typename T>
bool ReadDecimal(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// A time of a pax record: "1600000000.5" or "-1".
bool ReadTime(std::string_view text, int64_t& seconds, long& nanoseconds);

}  // namespace caip::images
