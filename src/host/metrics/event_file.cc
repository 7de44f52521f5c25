#include "host/metrics/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {
namespace {

// Reads the scalars of an Event message, with the necessary part of protocol buffers.

// One field of a message: its number, and its bytes or value.
struct Field {
  uint64_t number = 0;
  int wire = 0;
  uint64_t bits = 0;       // wire types 0, 1 and 5
  std::string_view bytes;  // wire type 2
};

constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

// Iterates over the fields of a message. ok() is false after bytes that are not a message.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::optional<Field> Next() {
    if (rest_.empty() || !ok_) return std::nullopt;
    Field field;
    const auto key = Varint();
    if (!key) return std::nullopt;
    field.number = *key >> 3;
    field.wire = static_cast<int>(*key & 7);
    if (!TakeBody(field)) {
      ok_ = false;
      return std::nullopt;
    }
    return field;
  }
  bool ok() const { return ok_; }

  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return std::nullopt;
  }
  std::optional<uint64_t> Fixed(size_t size) {
    if (rest_.size() < size) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(size);
    return value;
  }
  bool empty() const { return rest_.empty(); }

 private:
  bool TakeBody(Field& field) {
    std::optional<uint64_t> bits;
    if (field.wire == kVarint || field.wire == kBytes) bits = Varint();
    if (field.wire == kFixed64) bits = Fixed(8);
    if (field.wire == kFixed32) bits = Fixed(4);
    if (!bits || field.number == 0) return false;
    field.bits = *bits;
    if (field.wire != kBytes) return true;
    if (*bits > rest_.size()) return false;
    field.bytes = rest_.substr(0, *bits);
    rest_.remove_prefix(*bits);
    return true;
  }

  std::string_view rest_;
  bool ok_ = true;
};

double OfFloat(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double OfDouble(uint64_t bits) { return std::bit_cast<double>(bits); }

// IEEE 754 binary16: TensorFlow's DT_HALF.
double OfHalf(uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  double value = 0;
  if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

double OfBfloat16(uint64_t bits) { return OfFloat((bits & 0xffff) << 16); }
double OfSigned(uint64_t bits) { return static_cast<double>(static_cast<int64_t>(bits)); }
double OfUnsigned(uint64_t bits) { return static_cast<double>(bits); }
double OfInt32(uint64_t bits) { return static_cast<int32_t>(static_cast<uint32_t>(bits)); }
double OfInt16(uint64_t bits) { return static_cast<int16_t>(static_cast<uint16_t>(bits)); }
double OfInt8(uint64_t bits) { return static_cast<int8_t>(static_cast<uint8_t>(bits)); }

// How numbers of a DataType are encoded in tensor_content and in the type's own list.
struct NumberType {
  uint64_t data_type;
  size_t size;    // in tensor_content
  uint64_t list;  // the field of TensorProto
  int wire;       // of the list's elements
  double (*in_content)(uint64_t);
  double (*in_list)(uint64_t);
};
constexpr NumberType kNumberTypes[] = {
    {1, 4, 5, kFixed32, OfFloat, OfFloat},         // DT_FLOAT
    {2, 8, 6, kFixed64, OfDouble, OfDouble},       // DT_DOUBLE
    {3, 4, 7, kVarint, OfInt32, OfSigned},         // DT_INT32
    {4, 1, 7, kVarint, OfUnsigned, OfSigned},      // DT_UINT8
    {5, 2, 7, kVarint, OfInt16, OfSigned},         // DT_INT16
    {6, 1, 7, kVarint, OfInt8, OfSigned},          // DT_INT8
    {9, 8, 10, kVarint, OfSigned, OfSigned},       // DT_INT64
    {10, 1, 11, kVarint, OfUnsigned, OfSigned},    // DT_BOOL
    {14, 2, 13, kVarint, OfBfloat16, OfBfloat16},  // DT_BFLOAT16
    {17, 2, 7, kVarint, OfUnsigned, OfSigned},     // DT_UINT16
    {19, 2, 13, kVarint, OfHalf, OfHalf},          // DT_HALF
    {22, 4, 16, kVarint, OfUnsigned, OfUnsigned},  // DT_UINT32
    {23, 8, 17, kVarint, OfUnsigned, OfUnsigned},  // DT_UINT64
};

const NumberType* NumberTypeOf(uint64_t data_type) {
  for (const NumberType& type : kNumberTypes) {
    if (type.data_type == data_type) return &type;
  }
  return nullptr;
}

// Adds the elements of a list, packed or not, but stops after two of a packed list.
void AddElements(const Field& field, const NumberType& type, std::vector<double>& elements) {
  if (field.wire == type.wire) elements.push_back(type.in_list(field.bits));
  if (field.wire != kBytes) return;
  Fields packed(field.bytes);
  while (!packed.empty() && elements.size() < 2) {
    const auto bits =
        type.wire == kVarint ? packed.Varint() : packed.Fixed(type.wire == kFixed32 ? 4 : 8);
    if (!bits) return;
    elements.push_back(type.in_list(*bits));
  }
}

// The value of a tensor with one element. A list that is shorter than its tensor repeats its last
// element, so only the shape shows the number of elements.
std::optional<double> ReadTensorScalar(std::string_view tensor) {
  uint64_t data_type = 0;
  std::string_view content;
  std::vector<Field> lists;
  uint64_t count = 1;
  Fields fields(tensor);
  while (const auto field = fields.Next()) {
    if (field->number == 1 && field->wire == kVarint) data_type = field->bits;
    if (field->number == 4 && field->wire == kBytes) content = field->bytes;
    if (field->number >= 5) lists.push_back(*field);
    if (field->number != 2 || field->wire != kBytes) continue;
    Fields shape(field->bytes);
    while (const auto dimension = shape.Next()) {
      if (dimension->number != 2 || dimension->wire != kBytes) continue;
      Fields parts(dimension->bytes);
      uint64_t size = 0;
      while (const auto part = parts.Next()) {
        if (part->number == 1 && part->wire == kVarint) size = part->bits;
      }
      if (size != 1) count = 0;
    }
  }
  const NumberType* type = NumberTypeOf(data_type);
  if (!fields.ok() || type == nullptr || count != 1) return std::nullopt;
  if (!content.empty()) {
    if (content.size() != type->size) return std::nullopt;
    return type->in_content(*Fields(content).Fixed(type->size));
  }
  std::vector<double> elements;
  for (const Field& field : lists) {
    if (field.number == type->list) AddElements(field, *type, elements);
  }
  if (elements.size() > 1) return std::nullopt;
  return elements.empty() ? 0.0 : elements.front();
}

struct SummaryValue {
  std::string_view tag;
  std::optional<double> number;
};

bool ReadValue(std::string_view bytes, SummaryValue& value) {
  Fields fields(bytes);
  while (const auto field = fields.Next()) {
    if (field->number == 1 && field->wire == kBytes) value.tag = field->bytes;
    if (field->number == 2 && field->wire == kFixed32) value.number = OfFloat(field->bits);
    if (field->number == 8 && field->wire == kBytes) value.number = ReadTensorScalar(field->bytes);
  }
  return fields.ok();
}

constexpr size_t kTagsMax = 20;

bool ReadSummary(std::string_view bytes, std::string_view tag, std::vector<double>& numbers,
                 std::set<std::string>& other_tags) {
  Fields fields(bytes);
  while (const auto field = fields.Next()) {
    if (field->number != 1 || field->wire != kBytes) continue;
    SummaryValue value;
    if (!ReadValue(field->bytes, value)) return false;
    if (!value.number) continue;
    if (value.tag == tag) {
      numbers.push_back(*value.number);
    } else if (other_tags.size() < kTagsMax) {
      other_tags.emplace(value.tag);
    }
  }
  return fields.ok();
}

// Adds the values of `tag`, at the event's step and wall time, and the tags of other scalars
// (about twenty at most). False: the bytes are not an Event.
bool ReadScalars(std::string_view event, std::string_view tag, std::vector<engine::Report>& reports,
                 std::set<std::string>& other_tags) {
  engine::Report report;
  report.summary = true;
  std::vector<double> numbers;
  Fields fields(event);
  while (const auto field = fields.Next()) {
    if (field->number == 1 && field->wire == kFixed64) report.time = OfDouble(field->bits);
    if (field->number == 2 && field->wire == kVarint) {
      report.step = static_cast<int64_t>(field->bits);
    }
    if (field->number != 5 || field->wire != kBytes) continue;
    if (!ReadSummary(field->bytes, tag, numbers, other_tags)) return false;
  }
  if (!fields.ok() || !std::isfinite(report.time)) return false;
  for (const double number : numbers) {
    report.value = number;
    reports.push_back(report);
  }
  return true;
}

}  // namespace

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

// Returns false if the record is not complete yet.
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
