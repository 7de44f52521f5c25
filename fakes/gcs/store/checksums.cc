
#include "fakes/gcs/store/checksums.h"

#include <isa-l/crc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/abandoned_work.h"
#include "base/encoding.h"
#include "base/files.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/file_errors.h"

namespace caip::gcs {
namespace {

constexpr uint32_t kCastagnoli = 0x82f63b78;  // reflected

// The product of two polynomials modulo Castagnoli's, bits reflected (x^0 is the top bit).
uint32_t Product(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? b >> 1 ^ kCastagnoli : b >> 1;
  }
  return product;
}

}  // namespace

// Shifts the first checksum by the second piece's length: multiplies it by x^(8 * length).
uint32_t CombinedCrc32c(uint32_t first, uint32_t second, uint64_t second_length) {
  uint32_t shift = 1u << 31;   // x^0
  uint32_t square = 1u << 23;  // x^8
  for (; second_length != 0; second_length >>= 1) {
    if (second_length & 1) shift = Product(shift, square);
    square = Product(square, square);
  }
  return Product(shift, first) ^ second;
}

void Hasher::Add(std::string_view bytes) {
  md5_.Add(bytes);
  constexpr size_t kAtOnce = 1u << 30;  // the library counts in int
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kAtOnce);
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    crc32c_ = ::crc32_iscsi(data, static_cast<int>(piece.size()), crc32c_);
    bytes.remove_prefix(piece.size());
  }
}

Hashes Hasher::Finish() { return {md5_.Finish(), ~crc32c_}; }

Result<Hashes> HashFile(int fd, bool may_stop) {
  Hasher hasher;
  std::vector<char> buffer(1 << 20);
  for (off_t offset = 0;;) {
    const ssize_t count = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errors::CannotReadObjectFile(errno);
    if (count == 0) return hasher.Finish();
    if (may_stop && IsWorkAbandoned()) return errors::ClientGone();
    hasher.Add({buffer.data(), static_cast<size_t>(count)});
    offset += count;
  }
}

std::string Crc32cText(uint32_t crc32c) {
  const char bytes[4] = {static_cast<char>(crc32c >> 24), static_cast<char>(crc32c >> 16),
                         static_cast<char>(crc32c >> 8), static_cast<char>(crc32c)};
  return Base64({bytes, 4});
}

std::optional<uint32_t> ParseCrc32c(std::string_view text) {
  const auto bytes = FromBase64(text);
  if (!bytes || bytes->size() != 4) return std::nullopt;
  uint32_t value = 0;
  for (char c : *bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

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

void FollowingHasher::ReportSize(uint64_t size) {
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
  RETURN_IF_ERROR(read_status_);
  return hasher_.Finish();
}

void FollowingHasher::Follow() {
  while (read_status_.ok()) {
    uint64_t reached = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || given_up_ || reached_ > done_; });
      if (given_up_ || reached_ == done_) return;
      reached = reached_;
    }
    read_status_ = AddUpTo(std::min(reached, done_ + 4 * kHashPieceBytes));
  }
}

Status FollowingHasher::AddUpTo(uint64_t size) {
  piece_.resize(kHashPieceBytes);
  while (done_ < size) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(piece_.size(), size - done_));
    const ssize_t count = ::pread(fd_, piece_.data(), wanted, static_cast<off_t>(done_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errors::CannotReadObjectFile(errno);
    if (count == 0) return errors::CannotReadObjectFile(ENODATA);  // cut by hand
    hasher_.Add({piece_.data(), static_cast<size_t>(count)});
    done_ += static_cast<uint64_t>(count);
  }
  return Ok{};
}

}  // namespace caip::gcs
