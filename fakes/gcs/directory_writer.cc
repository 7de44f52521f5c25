#include "fakes/gcs/directory_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/text.h"
#include "fakes/gcs/directory_store.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

std::string NewTemporaryName() {
  static std::atomic<uint64_t> counter{0};
  return std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

Status CheckSums(const Hashes& hashes, const std::optional<std::string>& expected_md5,
                 const std::optional<uint32_t>& expected_crc32c) {
  if (expected_md5 && *expected_md5 != hashes.md5) {
    return errors::Md5Mismatch(Base64(*expected_md5), Base64(hashes.md5));
  }
  if (expected_crc32c && *expected_crc32c != hashes.crc32c) {
    return errors::Crc32cMismatch(Crc32cText(*expected_crc32c), Crc32cText(hashes.crc32c));
  }
  return Ok{};
}

}  // namespace

DirectoryWriter::DirectoryWriter(DirectoryStore& store, std::string bucket, std::string name,
                                 std::string temporary, Fd fd)
    : store_(store),
      bucket_(std::move(bucket)),
      name_(std::move(name)),
      temporary_(std::move(temporary)),
      fd_(std::move(fd)) {}

Result<std::unique_ptr<ObjectWriter>> DirectoryWriter::Start(DirectoryStore& store,
                                                             std::string bucket, std::string name) {
  std::string temporary = NewTemporaryName();
  Fd fd(::openat(store.temporary_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                 0666));
  if (!fd.valid()) return SystemError("cannot begin object '" + name + "'", errno);
  return std::unique_ptr<ObjectWriter>(new DirectoryWriter(
      store, std::move(bucket), std::move(name), std::move(temporary), std::move(fd)));
}

DirectoryWriter::~DirectoryWriter() {
  if (!temporary_.empty()) ::unlinkat(store_.temporary_.get(), temporary_.c_str(), 0);
}

Status DirectoryWriter::Append(std::string_view bytes) {
  hasher_.Add(bytes);
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("cannot write object '" + name_ + "'", errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Ok{};
}

Result<ObjectInfo> DirectoryWriter::Commit(ObjectInfo info, const Preconditions& preconditions,
                                           const std::optional<std::string>& expected_md5,
                                           const std::optional<uint32_t>& expected_crc32c) {
  const Hashes hashes = hasher_.Finish();
  RETURN_IF_ERROR(CheckSums(hashes, expected_md5, expected_crc32c));
  if (store_.options_.durable && ::fsync(fd_.get()) != 0) {
    return SystemError("cannot sync object '" + name_ + "'", errno);
  }
  fd_.Close();
  info.bucket = bucket_;
  info.name = name_;
  info.size = size_;
  info.md5 = info.component_count > 0 ? "" : hashes.md5;
  info.crc32c = hashes.crc32c;
  auto committed = store_.Commit(temporary_, std::move(info), preconditions);
  if (committed.ok()) temporary_.clear();
  return committed;
}

}  // namespace caip::gcs
