#pragma once
// Byte ranges in requests to the registry.

#include <cstdint>
#include <optional>
#include <string_view>

namespace caip::registry {

/// Bytes from `first` to `last`, both included.
struct ByteRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t length() const { return last - first + 1; }
  bool operator==(const ByteRange&) const = default;
};

/// Reads "0-1023", the Content-Range of a piece of an upload. nullopt for any other text, numbers
/// with more than 18 digits, and a last byte before the first.
std::optional<ByteRange> ParsePieceRange(std::string_view text);

/// The meaning of a Range field for a blob of known size.
struct BlobRange {
  enum class Kind { kWhole, kPart, kUnsatisfiable } kind = Kind::kWhole;
  ByteRange bytes = {};  // of kPart
};

/// Reads "bytes=0-99", "bytes=100-" and "bytes=-100". Several ranges, other units and texts that
/// are not ranges mean the whole blob. A range whose end is before its start is not satisfiable
/// (RFC 9110, section 14.2, lets a server choose).
BlobRange ParseBlobRange(std::string_view field, uint64_t size);

}  // namespace caip::registry
