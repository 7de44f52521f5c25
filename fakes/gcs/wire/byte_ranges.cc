#include "fakes/gcs/wire/byte_ranges.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace caip::gcs {
namespace {

constexpr std::string_view kBytes = "bytes";

// Digits only, no sign; nullopt on overflow.
std::optional<uint64_t> NumberByteRanges(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// The same; what is more than any object has bytes is as good as the most.
std::optional<uint64_t> Position(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!is_number) return std::nullopt;
  return NumberByteRanges(text).value_or(UINT64_MAX);
}

// "*" is nullopt; false where it is neither a number nor "*".
bool NumberOrStar(std::string_view text, std::optional<uint64_t>* number) {
  if (text == "*") return true;
  *number = NumberByteRanges(text);
  return number->has_value();
}

}  // namespace

RangeAsked ParseRange(std::string_view header, uint64_t size) {
  using Kind = RangeAsked::Kind;
  const RangeAsked whole{Kind::kWhole, 0, size};
  header = Trim(header);
  if (!LowerCase(header).starts_with("bytes=")) return whole;
  header = Trim(header.substr(kBytes.size() + 1));
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return whole;
  const std::string_view before = Trim(header.substr(0, dash));
  const std::string_view after = Trim(header.substr(dash + 1));
  const auto first = Position(before);
  const auto last = Position(after);
  if ((!before.empty() && !first) || (!after.empty() && !last) || (!first && !last)) return whole;
  if (!first) {  // the last N bytes
    if (*last == 0 || size == 0) return {Kind::kUnsatisfiable};
    const uint64_t length = std::min(*last, size);
    return {Kind::kPart, size - length, length};
  }
  if (last && *last < *first) return whole;
  if (*first >= size) return {Kind::kUnsatisfiable};
  const uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {Kind::kPart, *first, end - *first + 1};
}

std::optional<ContentRange> ParseContentRange(std::string_view header) {
  header = Trim(header);
  if (!LowerCase(header).starts_with("bytes ")) return std::nullopt;
  header = Trim(header.substr(kBytes.size()));
  const size_t slash = header.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view bytes = header.substr(0, slash);
  ContentRange range;
  if (!NumberOrStar(header.substr(slash + 1), &range.total)) return std::nullopt;
  if (bytes == "*") return range;
  const size_t dash = bytes.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  range.first = NumberByteRanges(bytes.substr(0, dash));
  if (!range.first || !NumberOrStar(bytes.substr(dash + 1), &range.last)) return std::nullopt;
  if (range.last && *range.last < *range.first) return std::nullopt;
  if (range.last && range.total && *range.last >= *range.total) return std::nullopt;
  return range;
}

}  // namespace caip::gcs
