#pragma once
// TensorFlow's event files, read while they grow: TFRecord frames around Event messages. The layout
// is that of tensorflow/core/lib/io/record_writer.cc and core/util/event.proto, summary.proto,
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

/// CRC32C (Castagnoli) as TensorFlow stores it: rotated and shifted, so that a sum of bytes that
/// hold sums stays a good one.
uint32_t MaskedCrc32c(std::string_view bytes);

/// The values of one tag in one file. Fed with the file's bytes from its start on, in any pieces.
class EventReader {
 public:
  /// Records that are longer hold no scalars worth their memory (images, graphs): passed over.
  static constexpr uint64_t kRecordMax = uint64_t{32} << 20;

  explicit EventReader(std::string tag) : tag_(std::move(tag)) {}

  /// Adds what is whole by now to `reports`.
  void Feed(std::string_view bytes, std::vector<engine::Report>& reports);
  /// So many of the next bytes need not be fed: they may be passed over.
  uint64_t to_skip() const { return to_skip_; }
  void Skip(uint64_t bytes) { to_skip_ -= bytes; }

  /// A frame is not valid, so that the next one cannot be found.
  bool broken() const { return broken_; }
  /// Records whose data is not what its sum says, or no Event: they were left out.
  int bad_records() const { return bad_records_; }
  /// Of scalars that are there beside the tag's, some twenty at the most.
  const std::set<std::string>& other_tags() const { return other_tags_; }

 private:
  bool TakeRecord(std::vector<engine::Report>& reports);
  void ReadEvent(std::string_view data, std::vector<engine::Report>& reports);

  std::string tag_;
  std::set<std::string> other_tags_;
  std::string held_;  // not yet a whole record
  size_t at_ = 0;     // in held_: what lies before is done with
  uint64_t to_skip_ = 0;
  bool broken_ = false;
  int bad_records_ = 0;
};

/// A file that TensorFlow's readers would take for an event file.
bool IsEventFileName(std::string_view name);

}  // namespace caip::host
