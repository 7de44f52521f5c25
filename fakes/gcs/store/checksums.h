#pragma once
// The two checksums that Cloud Storage keeps of every object.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::gcs {

struct Hashes {
  std::string md5;  // 16 raw bytes
  uint32_t crc32c = 0;
};

/// Computes both checksums. Finish() may be called once.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  void Add(std::string_view bytes);
  Hashes Finish();

 private:
  struct Md5;
  std::unique_ptr<Md5> md5_;
  uint32_t crc32c_ = ~0u;
};

/// The CRC32C of two pieces together, from theirs and the second piece's length.
uint32_t CombinedCrc32c(uint32_t first, uint32_t second, uint64_t second_length);

/// Reads the whole open file.
Result<Hashes> HashFile(int fd);

/// As the JSON API and x-goog-hash write it: base64 of the big-endian bytes.
std::string Crc32cText(uint32_t crc32c);
std::optional<uint32_t> ParseCrc32c(std::string_view text);

}  // namespace caip::gcs
