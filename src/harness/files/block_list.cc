#include "harness/files/block_list.h"

#include <utility>

namespace caip::harness {
namespace {

// A block counts with its place, and with whether it is one of those before the run.
uint64_t DigestAt(size_t index, const Block& block) {
  const uint64_t is_at_first = block.kind == Block::Kind::kAtFirst ? 1 : 0;
  return (block.digest + is_at_first) * (2 * index + 3);
}

}  // namespace

BlockList::BlockList(std::initializer_list<Block> blocks) {
  for (const Block& block : blocks) Append(block);
}

void BlockList::Set(size_t index, const Block& block) {
  std::shared_ptr<const Part>& part = parts_[index / kPartBlocks];
  Part changed = *part;
  digest_ += DigestAt(index, block) - DigestAt(index, changed[index % kPartBlocks]);
  changed[index % kPartBlocks] = block;
  part = std::make_shared<const Part>(std::move(changed));
}

void BlockList::Append(const Block& block) {
  Part last = size_ % kPartBlocks == 0 ? Part() : *parts_.back();
  if (last.empty()) parts_.emplace_back();
  last.push_back(block);
  parts_.back() = std::make_shared<const Part>(std::move(last));
  digest_ += DigestAt(size_, block);
  ++size_;
}

void BlockList::Shorten(size_t size) {
  if (size >= size_) return;
  for (size_t i = size; i < size_; ++i) digest_ -= DigestAt(i, (*this)[i]);
  parts_.resize((size + kPartBlocks - 1) / kPartBlocks);
  if (size % kPartBlocks != 0) {
    Part last = *parts_.back();
    last.resize(size % kPartBlocks);
    parts_.back() = std::make_shared<const Part>(std::move(last));
  }
  size_ = size;
}

}  // namespace caip::harness
