#pragma once
// The two range headers: what a download asks for, and what an upload's piece is.

#include <cstdint>
#include <optional>
#include <string_view>

namespace caip::gcs {

/// What a Range header means for a body of known size.
struct RangeAsked {
  enum class Kind { kWhole, kPart, kUnsatisfiable } kind;
  uint64_t first = 0;
  uint64_t length = 0;
};

/// Several ranges, and anything that is no byte range, mean the whole (RFC 9110, 14.2).
RangeAsked ParseRange(std::string_view header, uint64_t size);

/// `Content-Range` of an upload: "bytes 0-99/100", "bytes 0-99/*", "bytes 0-*/*" (open end),
/// "bytes */100" and "bytes */*" (a question).
struct ContentRange {
  std::optional<uint64_t> first;  // nullopt: no data, a question
  std::optional<uint64_t> last;   // nullopt with `first`: up to the end of the body
  std::optional<uint64_t> total;
};

/// nullopt where the header is malformed or contradicts itself.
std::optional<ContentRange> ParseContentRange(std::string_view header);

}  // namespace caip::gcs
