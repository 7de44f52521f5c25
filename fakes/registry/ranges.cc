#include "fakes/registry/ranges.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace caip::registry {
namespace {

constexpr size_t kPositionDigitsMax = 18;  // below 2^63, so that sums do not overflow
constexpr std::string_view kUnit = "bytes=";

std::optional<uint64_t> ParsePosition(std::string_view text) {
  if (!IsDigits(text)) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  if (text.size() > kPositionDigitsMax) return std::nullopt;
  uint64_t position = 0;
  std::from_chars(text.data(), text.data() + text.size(), position);
  return position;
}

// A position beyond all blobs for digits that are too many.
std::optional<uint64_t> ParseRangeEnd(std::string_view text) {
  const auto position = ParsePosition(text);
  return position || !IsDigits(text) ? position : UINT64_MAX;
}

BlobRange FinalBytes(uint64_t count, uint64_t size) {
  if (count == 0 || size == 0) return {BlobRange::Kind::kUnsatisfiable};
  return {BlobRange::Kind::kPart, {size - std::min(count, size), size - 1}};
}

}  // namespace

std::optional<ByteRange> ParsePieceRange(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto first = ParsePosition(text.substr(0, dash));
  const auto last = ParsePosition(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return ByteRange{*first, *last};
}

BlobRange ParseBlobRange(std::string_view field, uint64_t size) {
  field = Trim(field);
  if (!LowerCase(field.substr(0, kUnit.size())).starts_with(kUnit)) return {};
  field.remove_prefix(kUnit.size());
  const size_t dash = field.find('-');
  if (dash == field.npos) return {};
  const std::string_view before = Trim(field.substr(0, dash));
  const std::string_view after = Trim(field.substr(dash + 1));
  const auto first = ParseRangeEnd(before);
  const auto last = ParseRangeEnd(after);
  if ((!first && !before.empty()) || (!last && !after.empty()) || (!first && !last)) return {};
  if (!first) return FinalBytes(*last, size);
  if (*first >= size || (last && *last < *first)) return {BlobRange::Kind::kUnsatisfiable};
  return {BlobRange::Kind::kPart, {*first, std::min(last.value_or(size - 1), size - 1)}};
}

}  // namespace caip::registry
