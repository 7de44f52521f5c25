#pragma once
// Reads TensorFlow's event files while they grow: TFRecord frames around Event messages. The layout
// is defined by tensorflow/core/lib/io/record_writer.cc and core/util/event.proto, summary.proto,
// tensor.proto:
//
//   uint64 length | uint32 masked CRC32C of it | data | uint32 masked CRC32C of the data
//
// A scalar is a Summary.Value with a simple_value, or a tensor of one number.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// CRC32C (Castagnoli) as TensorFlow stores it: rotated and with an offset, because the CRC of data
/// that contains CRCs is weak.
uint32_t MaskedCrc32c(std::string_view bytes);

/// Reads the values of one tag in one file. Takes the file's bytes from the start, in any pieces.
class EventReader {
 public:
  /// Longer records are skipped. They hold images or graphs.
  static constexpr uint64_t kRecordMax = uint64_t{32} << 20;

  explicit EventReader(std::string tag) : tag_(std::move(tag)) {}

  /// Reads bytes and adds the values of complete records to `reports`.
  void Feed(std::string_view bytes, std::vector<engine::Report>& reports);
  /// The number of following bytes that need not be fed and may be skipped.
  uint64_t to_skip() const { return to_skip_; }
  void Skip(uint64_t bytes) { to_skip_ -= bytes; }

  /// True after an invalid frame, because the next frame cannot be found.
  bool broken() const { return broken_; }
  /// The number of skipped records whose CRC is wrong, or whose data is not an Event.
  int bad_records() const { return bad_records_; }
  /// The tags of other scalars in the file, about twenty at most.
  const std::set<std::string>& other_tags() const { return other_tags_; }

 private:
  bool TakeRecord(std::vector<engine::Report>& reports);
  void ReadEvent(std::string_view data, std::vector<engine::Report>& reports);

  std::string tag_;
  std::set<std::string> other_tags_;
  std::string held_;  // an incomplete record
  size_t at_ = 0;     // in held_: the bytes before it are done
  uint64_t to_skip_ = 0;
  bool broken_ = false;
  int bad_records_ = 0;
};

/// True for names that TensorFlow's readers accept as event files.
bool IsEventFileName(std::string_view name);

}  // namespace caip::host
