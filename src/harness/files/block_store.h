#pragma once
// The bytes that files had during a run, in blocks, so that any earlier state can be rebuilt.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/files.h"
#include "base/result.h"

namespace caip::harness {

inline constexpr size_t kBlockBytes = 16u << 10;

/// A part of a file's contents: kBlockBytes, at the end of a file fewer.
struct Block {
  enum class Kind : uint8_t {
    kStored,
    kAtFirst,  // those that the file had before the run
    kZeros,
  };
  Kind kind = Kind::kStored;
  uint32_t size = 0;
  int64_t place = 0;    // kStored: in the store
  uint64_t digest = 0;  // equal for equal bytes, except for those of kAtFirst
};

/// A file without a name in a directory of the caller. Keeps equal blocks once: runs of one trainer
/// write mostly the same. Any thread.
class BlockStore {
 public:
  /// Takes at most `limit` bytes.
  static Result<BlockStore> Make(const Path& directory, uint64_t limit);

  /// kResourceExhausted if the bytes are new and the store is full.
  Result<Block> Put(std::string_view bytes);
  /// The bytes of a block of kind kStored or kZeros.
  Result<std::string> Read(const Block& block) const;

 private:
  BlockStore(Fd file, uint64_t limit) : file_(std::move(file)), limit_(limit) {}

  Fd file_;
  uint64_t limit_;
  uint64_t used_ = 0;
  std::unordered_map<uint64_t, Block> known_;  // by their digests
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

/// A block of zeros.
Block ZeroBlock(size_t bytes);

/// A hash of bytes or of a text: equal for equal bytes.
uint64_t DigestOf(std::string_view bytes);

}  // namespace caip::harness
