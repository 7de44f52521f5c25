#pragma once
// The blocks of a file. Copies share what they have in common, so that a change of a few blocks of
// a large file costs little, however many versions of the file are kept.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "harness/files/block_store.h"

namespace caip::harness {

/// For one thread; many may read it, and its copies, at the same time.
class BlockList {
 public:
  BlockList() = default;
  BlockList(std::initializer_list<Block> blocks);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// `index` must be below the size.
  const Block& operator[](size_t index) const {
    return (*parts_[index / kPartBlocks])[index % kPartBlocks];
  }
  void Set(size_t index, const Block& block);
  void Append(const Block& block);
  /// Removes blocks from the end; does nothing if there are no more than `size`.
  void Shorten(size_t size);

  /// A number that is equal for equal blocks in the same order.
  uint64_t digest() const { return digest_; }

 private:
  static constexpr size_t kPartBlocks = 64;
  using Part = std::vector<Block>;

  std::vector<std::shared_ptr<const Part>> parts_;  // all but the last one are full
  size_t size_ = 0;
  uint64_t digest_ = 0;  // the sum of the blocks' own, so that a change costs little
};

}  // namespace caip::harness
