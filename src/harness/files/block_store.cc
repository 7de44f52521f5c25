#include "harness/files/block_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "harness/errors.h"

namespace caip::harness {

uint64_t DigestOf(std::string_view bytes) {
  const std::string digest = Sha256(bytes);
  uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

Block ZeroBlock(size_t bytes) {
  static const uint64_t whole = DigestOf(std::string(kBlockBytes, '\0'));
  Block block{.kind = Block::Kind::kZeros, .size = static_cast<uint32_t>(bytes)};
  block.digest = bytes == kBlockBytes ? whole : DigestOf(std::string(bytes, '\0'));
  return block;
}

Result<BlockStore> BlockStore::Make(const Path& directory, uint64_t limit) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  const Path path = directory / "blocks";
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return errors::CannotKeepBlocks(path, errno);
  ::unlink(path.c_str());
  return BlockStore(std::move(file), limit);
}

Result<Block> BlockStore::Put(std::string_view bytes) {
  Block block{.size = static_cast<uint32_t>(bytes.size()), .digest = DigestOf(bytes)};
  const std::lock_guard lock(*mutex_);
  const auto known = known_.find(block.digest);
  if (known != known_.end() && known->second.size == block.size) return known->second;
  if (used_ + bytes.size() > limit_) return errors::TooManyBlocks(limit_);
  block.place = static_cast<int64_t>(used_);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(used_ + done));
    if (count <= 0) return errors::CannotKeepBlocks("blocks", errno);
    done += static_cast<size_t>(count);
  }
  used_ += bytes.size();
  known_.emplace(block.digest, block);
  return block;
}

Result<std::string> BlockStore::Read(const Block& block) const {
  std::string bytes(block.size, '\0');
  if (block.kind == Block::Kind::kZeros) return bytes;
  const ssize_t count = ::pread(file_.get(), bytes.data(), bytes.size(), block.place);
  if (count != static_cast<ssize_t>(bytes.size())) {
    return errors::CannotKeepBlocks("blocks", count < 0 ? errno : EIO);
  }
  return bytes;
}

}  // namespace caip::harness
