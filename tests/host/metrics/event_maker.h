#pragma once
// TensorFlow's event files, written by hand: the other side of host/metrics/event_file.h.

#include <bit>
#include <cstdint>
#include <string>

#include "host/metrics/event_file.h"

namespace caip::host {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string LittleEndian(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

inline std::string Raw(float value) { return LittleEndian(std::bit_cast<uint32_t>(value), 4); }
inline std::string Raw(double value) { return LittleEndian(std::bit_cast<uint64_t>(value), 8); }

// Fields of a message, by the number of the field.
inline std::string Number(uint64_t field, uint64_t value) {
  return Varint(field << 3) + Varint(value);
}
inline std::string Bytes(uint64_t field, const std::string& value) {
  return Varint(field << 3 | 2) + Varint(value.size()) + value;
}
inline std::string Fixed32(uint64_t field, float value) {
  return Varint(field << 3 | 5) + Raw(value);
}
inline std::string Fixed64(uint64_t field, double value) {
  return Varint(field << 3 | 1) + Raw(value);
}

/// Summary.Value.
inline std::string Simple(const std::string& tag, float value) {
  return Bytes(1, Bytes(1, tag) + Fixed32(2, value));
}
inline std::string OfTensor(const std::string& tag, const std::string& tensor) {
  return Bytes(1, Bytes(1, tag) + Bytes(8, tensor));
}

/// Event; `values` are of its Summary.
inline std::string AnEvent(double time, int64_t step, const std::string& values) {
  std::string event = Fixed64(1, time) + Number(2, static_cast<uint64_t>(step));
  return values.empty() ? event + Bytes(3, "brain.Event:2") : event + Bytes(5, values);
}

inline std::string FrameHead(uint64_t length) {
  const std::string bytes = LittleEndian(length, 8);
  return bytes + LittleEndian(MaskedCrc32c(bytes), 4);
}

/// TFRecord.
inline std::string Framed(const std::string& data) {
  return FrameHead(data.size()) + data + LittleEndian(MaskedCrc32c(data), 4);
}

/// Events of 1 MiB with an accuracy of 1 to 10. They are more than one turn of a thread reads.
inline std::string TenLargeEvents() {
  const std::string image = Bytes(99, std::string(1 << 20, 'x'));
  std::string events;
  for (int step = 1; step <= 10; ++step) {
    events += Framed(AnEvent(1, step, Simple("accuracy", static_cast<float>(step))) + image);
  }
  return events;
}

}  // namespace caip::host
