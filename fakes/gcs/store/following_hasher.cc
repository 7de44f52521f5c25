#include "fakes/gcs/store/following_hasher.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/files.h"

namespace caip::gcs {
namespace {

constexpr uint64_t kHashPieceBytes = 256 << 10;

}  // namespace

std::unique_ptr<FollowingHasher> FollowingHasher::Start(int fd, Hasher& begun, uint64_t size) {
  std::unique_ptr<FollowingHasher> hasher(new FollowingHasher(fd, size));
  std::swap(hasher->hasher_, begun);
  try {
    hasher->thread_ = std::thread([follower = hasher.get()] { follower->Follow(); });
  } catch (const std::system_error&) {
    std::swap(hasher->hasher_, begun);
    return nullptr;
  }
  return hasher;
}

FollowingHasher::~FollowingHasher() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void FollowingHasher::Reached(uint64_t size) {
  {
    const std::lock_guard lock(mutex_);
    reached_ = size;
  }
  changed_.notify_one();
}

Result<Hashes> FollowingHasher::Finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  RETURN_IF_ERROR(health_);
  return hasher_.Finish();
}

void FollowingHasher::Follow() {
  while (health_.ok()) {
    uint64_t reached = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || given_up_ || reached_ > done_; });
      if (given_up_ || reached_ == done_) return;
      reached = reached_;
    }
    health_ = AddUpTo(std::min(reached, done_ + 4 * kHashPieceBytes));
  }
}

Status FollowingHasher::AddUpTo(uint64_t size) {
  piece_.resize(kHashPieceBytes);
  while (done_ < size) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(piece_.size(), size - done_));
    const ssize_t count = ::pread(fd_, piece_.data(), wanted, static_cast<off_t>(done_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("cannot read an object's file", errno);
    if (count == 0) return SystemError("cannot read an object's file", ENODATA);  // cut by hand
    hasher_.Add({piece_.data(), static_cast<size_t>(count)});
    done_ += static_cast<uint64_t>(count);
  }
  return Ok{};
}

}  // namespace caip::gcs
