#pragma once
// The headers Range, of a download, and Content-Range, of an upload's piece.

#include <cstdint>
#include <optional>
#include <string_view>

#include "fakes/gcs/service/uploads.h"

namespace caip::gcs {

/// What a Range header means for a body of known size.
struct RangeAsked {
  enum class Kind { kWhole, kPart, kUnsatisfiable } kind;
  uint64_t first = 0;
  uint64_t length = 0;
};

/// Several ranges, and anything that is not a byte range, mean the whole (RFC 9110, 14.2).
RangeAsked ParseRange(std::string_view header, uint64_t size);

/// nullopt where the header is malformed or contradicts itself.
std::optional<ContentRange> ParseContentRange(std::string_view header);

}  // namespace caip::gcs
