#pragma once
// The two checksums that Cloud Storage keeps for every object, MD5 and CRC32C.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace caip::gcs {

struct Hashes {
  std::string md5;  // 16 raw bytes
  uint32_t crc32c = 0;
};

/// Computes both checksums. Finish() may be called once.
class Hasher {
 public:
  void Add(std::string_view bytes);
  Hashes Finish();

 private:
  Md5Digest md5_;
  uint32_t crc32c_ = ~0u;
};

/// Combines the CRC32C of two pieces into that of both together.
uint32_t CombinedCrc32c(uint32_t first, uint32_t second, uint64_t second_length);

/// Reads the whole open file. kCancelled: `may_stop`, and the client that waits for it has gone.
Result<Hashes> HashFile(int fd, bool may_stop = true);

/// As the JSON API and x-goog-hash write it: base64 of the big-endian bytes.
std::string Crc32cText(uint32_t crc32c);
std::optional<uint32_t> ParseCrc32c(std::string_view text);

/// Computes the checksums of a large file on its own thread while the file is written, because MD5
/// takes longer than receiving and writing together. Only one thread may call it.
class FollowingHasher {
 public:
  /// `begun` has the checksums of the first `size` bytes. nullptr, with `begun` unchanged, if no
  /// thread is available. The descriptor outlives it.
  static std::unique_ptr<FollowingHasher> Start(int fd, Hasher& begun, uint64_t size);
  /// Abandons the computation unless Finish() has been called.
  ~FollowingHasher();
  FollowingHasher(const FollowingHasher&) = delete;
  FollowingHasher& operator=(const FollowingHasher&) = delete;

  /// Reports that the file has `size` bytes now.
  void ReportSize(uint64_t size);
  /// Waits for the checksums of all bytes reported. May be called once.
  Result<Hashes> Finish();

 private:
  FollowingHasher(int fd, uint64_t size) : fd_(fd), done_(size), reached_(size) {}
  void Follow();
  Status AddUpTo(uint64_t size);

  int fd_;
  uint64_t done_;              // the thread's
  std::vector<char> piece_;    // the thread's
  Hasher hasher_;              // the thread's
  Status read_status_ = Ok{};  // the thread's
  std::mutex mutex_;           // guards the members below
  std::condition_variable changed_;
  uint64_t reached_;
  bool ending_ = false;  // no more bytes follow
  bool given_up_ = false;
  std::thread thread_;
};

}  // namespace caip::gcs
