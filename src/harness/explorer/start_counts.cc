#include "harness/explorer/start_counts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "harness/explorer/drift.h"
#include "harness/explorer/other_values.h"

namespace caip::harness {
namespace {

// Seconds since 1970 have ten digits. Finer units, and dates written as a number, have more.
constexpr double kTimesBegin = 1e9;

/// What differs between two JSON values.
struct JsonDifference {
  size_t starts;           // of the run without a restart
  size_t restarts;         // of the other one
  bool fractions = false;  // that do not drift
  bool counts = false;     // MayCountStarts
  bool wholes = false;     // other whole numbers
  bool words = false;      // texts, elements, ...
};

void FindInJson(const Json& a, const Json& b, JsonDifference& found);

void FindInNumbers(const Json& a, const Json& b, JsonDifference& found) {
  if (IsDrift(a, b)) return;
  if (a.is_number_float()) {
    found.fractions = true;
  } else if (b.is_number_float()) {
    found.words = true;
  } else if (MayCountStarts(a.get<double>(), b.get<double>(), found.starts, found.restarts)) {
    found.counts = true;
  } else {
    found.wholes = true;
  }
}

void FindInMembers(const Json& a, const Json& b, JsonDifference& found) {
  if (a.size() != b.size()) found.words = true;
  for (const auto& [name, value] : a.items()) {
    const Json* other = Member(b, name);
    if (!other) found.words = true;
    if (other) FindInJson(value, *other, found);
  }
}

void FindInJson(const Json& a, const Json& b, JsonDifference& found) {
  if (a == b) return;
  if (a.is_number() && b.is_number()) return FindInNumbers(a, b, found);
  if (a.is_object() && b.is_object()) return FindInMembers(a, b, found);
  // An element for each start moves the elements after it.
  if (!a.is_array() || !b.is_array() || a.size() != b.size()) {
    found.words = true;
    return;
  }
  for (size_t i = 0; i < a.size(); ++i) FindInJson(a[i], b[i], found);
}

// Other whole numbers may follow from a count, or from a word for each start.
ValueDifference DifferenceOfJson(const Json& a, const Json& b, size_t starts, size_t restarts) {
  JsonDifference found{starts, restarts};
  FindInJson(a, b, found);
  const bool may_count = found.counts || found.words;
  const bool has_others = found.fractions || (found.wholes && !may_count);
  return {has_others, may_count};
}

// Whether each line is JSON of its own.
bool AreJsonLines(std::string_view text) {
  const std::vector<std::string> lines = Split(text, '\n');
  return std::ranges::all_of(
      lines, [](const std::string& line) { return Trim(line).empty() || ParseJson(line).ok(); });
}

// Whether a JSON text became one that is none, and not because each start adds one to it.
bool IsCutShort(const Json& json, std::string_view once, std::string_view other) {
  if (Trim(other).empty()) return true;
  return json.is_structured() && !other.starts_with(Trim(once)) && !AreJsonLines(other);
}

/// The part of an entry of a zip archive that follows from the entry's contents and its time.
struct ZipPart {
  std::string_view mark;
  size_t size;
};
constexpr ZipPart kZipParts[] = {{"PK\x03\x04", 30}, {"PK\x01\x02", 46}, {"PK\x07\x08", 24}};

// The size of the zip header that begins here; 0: none does.
size_t ZipHeaderAt(std::string_view bytes, size_t at) {
  if (bytes[at] != 'P') return 0;
  const std::string_view here = bytes.substr(at, 4);
  const auto* const part = std::ranges::find(kZipParts, here, &ZipPart::mark);
  return part == std::end(kZipParts) ? 0 : part->size;
}

// In compressed bytes, a single other number may change all that follow. gzip, zlib, bzip2, xz,
// zstd, lz4, and the first entry of a zip archive, whose method stands in its header.
bool IsCompressed(std::string_view bytes) {
  constexpr std::string_view kMarks[] = {"\x1f\x8b",    "\x78\x01",         "\x78\x5e",
                                         "\x78\x9c",    "\x78\xda",         "BZh",
                                         "\xfd\x37zXZ", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18"};
  constexpr size_t kMethodAt = 8;
  const bool is_marked = std::ranges::any_of(
      kMarks, [bytes](std::string_view mark) { return bytes.starts_with(mark); });
  const bool is_zip = bytes.starts_with(kZipParts[0].mark) && bytes.size() > kMethodAt;
  return is_marked || (is_zip && bytes[kMethodAt] != 0);
}

// A single byte that is 0 or 1, also as a digit, and grows by one at each restart, or at some.
bool IsCountOfOneByte(char once, char other, size_t restarts) {
  const bool is_first = once == 0 || once == 1 || once == '0' || once == '1';
  return is_first && other > once && static_cast<size_t>(other - once) <= restarts;
}

/// Where bytes of the same size differ, outside of the headers of a zip archive.
struct PlacesThatDiffer {
  size_t counts = 0;  // single bytes that may count starts
  size_t others = 0;  // a longer place counts once for each eight bytes: a time has eight
};

// How many places a run of bytes counts. NULs at its ends may be room that nothing filled yet: a
// table and an archive have such room, into which each start may write an entry.
size_t PlacesIn(std::string_view run) {
  constexpr size_t kBytesOfNumber = 8;
  constexpr std::string_view kNul("\0", 1);
  const size_t begin = run.find_first_not_of(kNul);
  if (begin == std::string_view::npos) return 1;
  const size_t filled = run.find_last_not_of(kNul) + 1 - begin;
  return (filled + kBytesOfNumber - 1) / kBytesOfNumber;
}

// A file may hold a count or a time several times, with checksums or a digest.
constexpr size_t kPlacesOfCounts = 16;

// Stops as soon as the answer is known.
PlacesThatDiffer FindPlaces(std::string_view once, std::string_view other, size_t restarts) {
  PlacesThatDiffer places;
  const auto is_decided = [&] { return places.others > kPlacesOfCounts && places.counts > 0; };
  for (size_t at = 0; at < once.size() && !is_decided();) {
    const size_t header = ZipHeaderAt(once, at);
    if (header > 0 || once[at] == other[at]) {
      at += std::max<size_t>(header, 1);
      continue;
    }
    const size_t begin = at;
    while (at < once.size() && once[at] != other[at]) ++at;
    const bool counts = at == begin + 1 && IsCountOfOneByte(once[begin], other[begin], restarts);
    if (counts) ++places.counts;
    if (!counts) places.others += PlacesIn(once.substr(begin, at - begin));
  }
  return places;
}

// Learned values differ in more places than counts.
ValueDifference DifferenceOfBytes(std::string_view once, std::string_view other, size_t restarts) {
  if (!HoldOtherValues(once, other) || IsCompressed(once)) return {false, true};
  const PlacesThatDiffer places = FindPlaces(once, other, restarts);
  const bool has_others = places.others > kPlacesOfCounts;
  return {has_others, !has_others || places.counts > 0};
}

}  // namespace

bool MayCountStarts(double once, double other, size_t starts, size_t restarts) {
  constexpr double kNone = -1;
  const auto all = static_cast<double>(std::max<size_t>(1, starts));
  if (once >= kNone && once <= all && other > once) return true;
  if (other < once && other >= once - static_cast<double>(restarts)) return true;
  const double smaller = std::min(once, other);
  return smaller >= kTimesBegin && std::abs(once - other) <= smaller * kDriftMax;
}

ValueDifference FindValueDifference(std::string_view once, std::string_view other, size_t starts,
                                    size_t restarts) {
  const auto a = ParseJson(once);
  const auto b = ParseJson(other);
  if (a.ok() && b.ok()) return DifferenceOfJson(*a, *b, starts, restarts);
  if (a.ok() && IsCutShort(*a, once, other)) return {true, false};
  if (!IsText(once) || !IsText(other)) return DifferenceOfBytes(once, other, restarts);
  const bool has_others = TextsHoldMoreThanCounts(once, other, starts, restarts);
  return {has_others, !has_others};
}

}  // namespace caip::harness
