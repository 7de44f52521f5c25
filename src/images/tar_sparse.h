#pragma once
// Sparse files of tar archives: GNU's form in the header, and its pax forms 0.0, 0.1 and 1.0 (GNU
// tar manual, "Storing Sparse Files").

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "images/tar_entry.h"
#include "images/tar_header.h"

namespace caip::images {

/// A part of a sparse file that has data.
struct TarSegment {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// Where the data of one entry belong. An entry that is not sparse has one segment.
class TarSparse {
 public:
  /// Reads the next bytes of the archive.
  using Read = std::function<Result<std::string>(uint64_t bytes)>;

  /// Reads the map of a header of type 'S', and of the blocks after it.
  Status ReadHeader(const TarHeader& header, TarEntry& entry, const Read& read);
  /// Reads the map in the records of a pax header.
  Status Apply(const TarRecords& records, TarEntry& entry);
  /// Reads the map that is before the data, if there is one, and takes it from `stored`, the number
  /// of bytes of the data. Checks the whole map.
  Status ReadMap(const TarEntry& entry, uint64_t& stored, const Read& read);
  /// The segments of an entry with so many bytes of data, in order.
  std::vector<TarSegment> Segments(uint64_t stored) const;

 private:
  Status ReadLines(uint64_t& stored, const Read& read);

  bool is_sparse_ = false;
  bool is_before_data_ = false;
  std::vector<TarSegment> segments_;
};

}  // namespace caip::images
