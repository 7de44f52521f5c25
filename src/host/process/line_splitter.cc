#include "host/process/line_splitter.h"

#include <cstdint>
#include <cstring>

namespace caip::host {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080u;
constexpr uint64_t kLowBits = 0x0101010101010101u;

// The number of leading bytes that are ASCII and not NUL.
size_t PlainPrefix(std::string_view bytes) {
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    const uint64_t has_zero = (word - kLowBits) & ~word & kHighBits;
    if (((word & kHighBits) | has_zero) != 0) break;
  }
  while (at < bytes.size() && bytes[at] > 0) ++at;
  return at;
}

struct Sequence {
  size_t length = 1;  // of the character or the ill-formed sequence
  bool well_formed = false;
};

// The number of further bytes of a character and the bounds of its second byte, by its first byte
// (The Unicode Standard, table 3-7).
struct LeadByte {
  size_t more = 0;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

LeadByte Lead(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {};
}

// Examines the sequence at the start of `bytes`, which is not empty.
Sequence Head(std::string_view bytes) {
  const unsigned char first = static_cast<unsigned char>(bytes.front());
  if (first < 0x80) return {1, first != 0};
  const LeadByte lead = Lead(first);
  if (lead.more == 0) return {1, false};
  for (size_t i = 1; i <= lead.more; ++i) {
    if (i >= bytes.size()) return {i, false};
    const unsigned char byte = static_cast<unsigned char>(bytes[i]);
    const unsigned char low = i == 1 ? lead.second_min : 0x80;
    const unsigned char high = i == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return {i, false};
  }
  return {lead.more + 1, true};
}

}  // namespace

bool IsSafeText(std::string_view bytes) {
  for (;;) {
    bytes.remove_prefix(PlainPrefix(bytes));
    if (bytes.empty()) return true;
    const Sequence head = Head(bytes);
    if (!head.well_formed) return false;
    bytes.remove_prefix(head.length);
  }
}

std::string SafeText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    size_t length = PlainPrefix(bytes);
    if (length > 0) {
      text.append(bytes.substr(0, length));
    } else {
      const Sequence head = Head(bytes);
      length = head.length;
      text.append(head.well_formed ? bytes.substr(0, length) : "\xEF\xBF\xBD");
    }
    bytes.remove_prefix(length);
  }
  return text;
}

size_t WholeCharacters(std::string_view bytes) {
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const unsigned char byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if (byte < 0x80) break;
    if (byte >= 0xC0) return Lead(byte).more >= back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

}  // namespace caip::host
