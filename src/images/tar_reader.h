#pragma once
// The entries of a tar archive (ustar, pax and GNU), byte for byte: libarchive's reader converts
// names by the locale, and loses the targets of some links on the way.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "images/byte_source.h"
#include "images/tar_entry.h"
#include "images/tar_header.h"
#include "images/tar_sparse.h"

namespace caip::images {

/// Reads an archive from a source. One thread.
class TarReader {
 public:
  /// `source` must outlive the reader.
  explicit TarReader(ByteSource& source) : source_(source) {}
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  /// The next entry; nullptr at the end. It is valid until the next call. kDataLoss, with the
  /// reason "archiveBroken", if the archive is damaged or is not a tar archive.
  Result<const TarEntry*> Next();

  /// Whether the mark of the end was read. Some programs leave it out, as does a broken pipe.
  bool HasEnd() const { return has_end_; }

  using Write = std::function<Status(std::string_view bytes, uint64_t offset)>;
  /// Hands the data of the last entry to `write`, in order. Offsets leave out holes.
  Status ReadData(const Write& write);

 private:
  // What a pax header, or GNU's headers for long names, say about the next entry.
  struct Extension {
    TarRecords records;
    std::string path;
    std::string target;
  };

  Result<bool> ReadHeader(TarHeader& header);
  Result<std::string_view> Take(uint64_t limit);
  Result<std::string> ReadText(uint64_t size);
  Status Skip(uint64_t size);
  Status SkipRest();
  Status ReadExtension(char type, uint64_t size, Extension& extension);
  Status Begin(const TarHeader& header, Extension extension);
  Status Apply(const TarRecords& records);

  ByteSource& source_;
  std::string_view piece_;  // what is left of the last piece of the source
  bool is_started_ = false;
  bool is_over_ = false;
  bool has_end_ = false;
  TarEntry entry_;
  uint64_t stored_ = 0;   // the bytes of the entry's data that were not yet taken
  uint64_t padding_ = 0;  // after them
  TarSparse sparse_;
};

}  // namespace caip::images
