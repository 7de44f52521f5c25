#pragma once
// Bytes that are read piece by piece: decompressed, and hashed while another thread uses them.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "images/digest.h"

struct archive;

namespace caip::images {

struct CloseArchive {
  void operator()(archive* opened) const;
};
using ArchivePtr = std::unique_ptr<archive, CloseArchive>;

/// Bytes in order. One thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The next piece; "" at the end. It is valid until the next call.
  virtual Result<std::string_view> Next() = 0;
};

/// Reads a file that may be compressed with gzip, zstd, xz or bzip2. The first bytes of the file
/// say how. Everything happens in this process: libarchive knows other formats, for which it would
/// run programs of the PATH.
class DecompressedFile : public ByteSource {
 public:
  /// Reads `file` from its position on. The descriptor must stay open.
  static Result<std::unique_ptr<DecompressedFile>> Open(int file);
  /// kDataLoss, with the reason "archiveBroken", if the compressed data are damaged.
  Result<std::string_view> Next() override;

 private:
  explicit DecompressedFile(ArchivePtr reader) : reader_(std::move(reader)) {}

  ArchivePtr reader_;
  bool is_over_ = false;
};

/// Reads a source ahead in a thread of its own, and computes the digest of exactly the bytes that
/// it hands out.
class HashedSource : public ByteSource {
 public:
  /// `source` must outlive the object. More than `limit` bytes are kResourceExhausted, with the
  /// reason "imageTooLarge". After `stop` is requested, Next returns kCancelled.
  HashedSource(ByteSource& source, uint64_t limit, std::stop_token stop = {});
  HashedSource(const HashedSource&) = delete;
  HashedSource& operator=(const HashedSource&) = delete;
  ~HashedSource() override;

  Result<std::string_view> Next() override;
  /// Reads to the end. The digest of all bytes.
  Result<Digest> Finish();

 private:
  struct Piece {
    std::string bytes;
    Status status = Ok{};
  };

  void ReadAhead();
  Status Fill(std::string& bytes);
  bool Deliver(Piece piece);

  ByteSource& source_;
  const uint64_t limit_;
  const std::stop_token stop_;
  Sha256Digest hash_;
  uint64_t total_ = 0;
  std::string rest_;  // what the last piece of the source had beyond a full buffer

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;        // read, and not yet taken
  std::vector<std::string> spare_;  // buffers to fill again
  bool is_stopped_ = false;

  Piece current_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace caip::images
