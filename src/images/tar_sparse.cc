#include "images/tar_sparse.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "images/errors.h"

namespace caip::images {
namespace {

constexpr size_t kSegmentsMax = 1 << 20;
constexpr size_t kSegmentBytes = 24;  // two numbers
constexpr size_t kDigitsMax = 20;     // of a number with 64 bits, as in GNU tar
constexpr std::string_view kSparseRecord = "GNU.sparse.";

Error DamagedMap() { return errors::ArchiveBroken("the map of a sparse file is damaged"); }

// Segments of a header, or of a block after it. An unused place begins with a zero byte.
bool AddSegments(std::string_view numbers, std::vector<TarSegment>& segments) {
  for (; numbers.size() >= kSegmentBytes; numbers.remove_prefix(kSegmentBytes)) {
    if (numbers.front() == '\0') continue;
    const auto offset = TarNumber(numbers.substr(0, 12));
    const auto length = TarNumber(numbers.substr(12, 12));
    if (!offset || !length || *offset < 0 || *length < 0) return false;
    segments.push_back({static_cast<uint64_t>(*offset), static_cast<uint64_t>(*length)});
  }
  return segments.size() <= kSegmentsMax;
}

// "OFFSET,LENGTH,OFFSET,LENGTH" of form 0.1.
bool AddList(const std::string& text, std::vector<TarSegment>& segments) {
  const std::vector<std::string> numbers = Split(text, ',');
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    TarSegment& segment = segments.emplace_back();
    if (!ReadDecimal(std::string_view(numbers[i]), segment.offset) ||
        !ReadDecimal(std::string_view(numbers[i + 1]), segment.length)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status TarSparse::ReadHeader(const TarHeader& header, TarEntry& entry, const Read& read) {
  is_sparse_ = true;
  const auto size = TarNumber(header.Raw(TarHeader::kRealSize));
  if (!size || *size < 0 || !AddSegments(header.Raw(TarHeader::kSegments), segments_)) {
    return DamagedMap();
  }
  entry.size = static_cast<uint64_t>(*size);
  bool has_more = header.Raw(TarHeader::kIsExtended).front() != '\0';
  while (has_more) {
    ASSIGN_OR_RETURN(const std::string block, read(kTarBlock));
    if (!AddSegments(std::string_view(block).substr(0, 21 * kSegmentBytes), segments_)) {
      return DamagedMap();
    }
    has_more = block[21 * kSegmentBytes] != '\0';
  }
  return Ok{};
}

Status TarSparse::Apply(const TarRecords& records, TarEntry& entry) {
  bool is_read = true;
  for (const auto& [name, value] : records) {
    if (!name.starts_with(kSparseRecord)) continue;
    is_sparse_ = true;
    const std::string_view key = std::string_view(name).substr(kSparseRecord.size());
    const std::string_view text = value;
    if (key == "name" && !value.empty()) entry.path = value;
    if (key == "major") is_before_data_ = value == "1";
    if (key == "size" || key == "realsize") is_read &= ReadDecimal(text, entry.size);
    if (key == "offset") is_read &= ReadDecimal(text, segments_.emplace_back().offset);
    if (key == "numbytes") {
      is_read &= !segments_.empty() && ReadDecimal(text, segments_.back().length);
    }
    if (key == "map") is_read &= AddList(value, segments_);
  }
  if (!is_read) return DamagedMap();
  return Ok{};
}

// Form 1.0: a number a line, first of segments, then two for each of them, padded to whole blocks.
Status TarSparse::ReadLines(uint64_t& stored, const Read& read) {
  std::string rest;  // what no line was taken of yet
  std::vector<uint64_t> numbers;
  size_t at = 0;
  while (numbers.size() < (numbers.empty() ? 1 : 1 + 2 * numbers.front())) {
    const size_t end = rest.find('\n', at);
    if (end == std::string::npos) {
      rest.erase(0, std::exchange(at, 0));
      if (stored < kTarBlock || rest.size() > kDigitsMax) return DamagedMap();
      ASSIGN_OR_RETURN(const std::string block, read(kTarBlock));
      rest += block;
      stored -= kTarBlock;
      continue;
    }
    const std::string_view line = std::string_view(rest).substr(at, end - at);
    if (line.size() > kDigitsMax || !ReadDecimal(line, numbers.emplace_back()) ||
        numbers.front() > kSegmentsMax) {
      return DamagedMap();
    }
    at = end + 1;
  }
  for (size_t i = 1; i + 1 < numbers.size(); i += 2) {
    segments_.push_back({numbers[i], numbers[i + 1]});
  }
  return Ok{};
}

Status TarSparse::ReadMap(const TarEntry& entry, uint64_t& stored, const Read& read) {
  if (!is_sparse_) return Ok{};
  if (is_before_data_) RETURN_IF_ERROR(ReadLines(stored, read));
  if (segments_.size() > kSegmentsMax) return DamagedMap();
  uint64_t end = 0;
  uint64_t total = 0;
  for (const TarSegment& segment : segments_) {  // in order, and inside of the file
    if (segment.offset < end || segment.offset > entry.size ||
        segment.length > entry.size - segment.offset) {
      return DamagedMap();
    }
    end = segment.offset + segment.length;
    total += segment.length;
  }
  if (total != stored) return DamagedMap();
  return Ok{};
}

std::vector<TarSegment> TarSparse::Segments(uint64_t stored) const {
  return is_sparse_ ? segments_ : std::vector<TarSegment>{{0, stored}};
}

}  // namespace caip::images
