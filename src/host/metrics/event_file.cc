#include "host/metrics/event_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "host/metrics/event_message.h"

namespace caip::host {
namespace {

constexpr size_t kLengthSize = 8;
constexpr size_t kSumSize = 4;
constexpr size_t kHeadSize = kLengthSize + kSumSize;

constexpr std::array<uint32_t, 256> MakeTable() {
  constexpr uint32_t kCastagnoli = 0x82f63b78;  // reflected
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) ? kCastagnoli : 0);
    table[i] = sum;
  }
  return table;
}

template <typename T>
T LittleEndian(std::string_view bytes) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(value << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  uint32_t sum = ~uint32_t{0};
  for (unsigned char byte : bytes) sum = (sum >> 8) ^ kTable[(sum ^ byte) & 0xff];
  sum = ~sum;
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

void EventReader::Feed(std::string_view bytes, std::vector<engine::Report>& reports) {
  const uint64_t skipped = std::min<uint64_t>(to_skip_, bytes.size());
  Skip(skipped);
  if (broken_) return;
  held_.append(bytes.substr(skipped));
  while (!broken_ && to_skip_ == 0 && TakeRecord(reports)) {
  }
  held_.erase(0, at_);
  at_ = 0;
}

// False: there is no whole record yet.
bool EventReader::TakeRecord(std::vector<engine::Report>& reports) {
  const std::string_view rest = std::string_view(held_).substr(at_);
  if (rest.size() < kHeadSize) return false;
  const auto length = LittleEndian<uint64_t>(rest);
  if (LittleEndian<uint32_t>(rest.substr(kLengthSize)) !=
      MaskedCrc32c(rest.substr(0, kLengthSize))) {
    broken_ = true;
    return false;
  }
  if (length > kRecordMax) {
    if (length > UINT64_MAX - kHeadSize - kSumSize) {
      broken_ = true;
      return false;
    }
    const uint64_t whole = kHeadSize + length + kSumSize;
    const uint64_t here = std::min<uint64_t>(whole, rest.size());
    at_ += here;
    to_skip_ = whole - here;
    return true;
  }
  if (rest.size() < kHeadSize + length + kSumSize) return false;
  const std::string_view data = rest.substr(kHeadSize, length);
  at_ += kHeadSize + length + kSumSize;
  if (LittleEndian<uint32_t>(rest.substr(kHeadSize + length)) != MaskedCrc32c(data)) {
    ++bad_records_;
  } else {
    ReadEvent(data, reports);
  }
  return true;
}

void EventReader::ReadEvent(std::string_view data, std::vector<engine::Report>& reports) {
  const size_t before = reports.size();
  if (ReadScalars(data, tag_, reports, other_tags_)) return;
  reports.resize(before);
  ++bad_records_;
}

bool IsEventFileName(std::string_view name) {
  return name.find("tfevents") != std::string_view::npos;
}

}  // namespace caip::host
