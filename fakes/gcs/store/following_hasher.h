#pragma once
// Computes the checksums of a large object on a thread of its own, because MD5 takes longer than
// receiving and writing together.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {

/// Reads a file while it is written, on a thread of its own. Used by one thread.
class FollowingHasher {
 public:
  /// `begun` has the checksums of the first `size` bytes. nullptr, with `begun` unchanged, if no
  /// thread is available. The descriptor outlives it.
  static std::unique_ptr<FollowingHasher> Start(int fd, Hasher& begun, uint64_t size);
  /// Stops before the end.
  ~FollowingHasher();
  FollowingHasher(const FollowingHasher&) = delete;
  FollowingHasher& operator=(const FollowingHasher&) = delete;

  /// Reports that the file has `size` bytes now.
  void Reached(uint64_t size);
  /// Waits for the sums of all bytes reached. Once, at the end.
  Result<Hashes> Finish();

 private:
  FollowingHasher(int fd, uint64_t size) : fd_(fd), done_(size), reached_(size) {}
  void Follow();
  Status AddUpTo(uint64_t size);

  int fd_;
  uint64_t done_;            // the thread's
  std::vector<char> piece_;  // the thread's
  Hasher hasher_;            // the thread's
  Status health_ = Ok{};     // the thread's
  std::mutex mutex_;         // guards what follows
  std::condition_variable changed_;
  uint64_t reached_;
  bool ending_ = false;  // no more will come
  bool given_up_ = false;
  std::thread thread_;
};

}  // namespace caip::gcs
