// The blocks of files, which are shared by versions and by runs.

#include "harness/files/block_list.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace caip::harness {
namespace {

Block BlockOf(uint64_t number) { return {.size = 1, .digest = number}; }

BlockList Counted(size_t size) {
  BlockList list;
  for (size_t i = 0; i < size; ++i) list.Append(BlockOf(i));
  return list;
}

TEST(BlockList, HasTheBlocksThatWereAppendedAndSet) {
  BlockList list = Counted(200);
  list.Set(0, BlockOf(1000));
  list.Set(64, BlockOf(1064));
  list.Set(199, BlockOf(1199));
  ASSERT_EQ(list.size(), 200u);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(list[i].digest % 1000, i);
    EXPECT_EQ(list[i].digest >= 1000, i == 0 || i == 64 || i == 199) << i;
  }
}

TEST(BlockList, LeavesCopiesAsTheyAre) {
  const BlockList before = Counted(130);
  BlockList after = before;
  after.Set(70, BlockOf(7));
  after.Shorten(100);
  after.Append(BlockOf(8));
  EXPECT_EQ(before[70].digest, 70u);
  EXPECT_EQ(before[100].digest, 100u);
  EXPECT_EQ(before.size(), 130u);
  EXPECT_EQ(after[70].digest, 7u);
  EXPECT_EQ(after[100].digest, 8u);
  EXPECT_EQ(after.size(), 101u);
}

TEST(BlockList, HasTheDigestOfItsBlocksHoweverTheyCame) {
  for (const size_t size : {0, 1, 63, 64, 65, 128}) {
    BlockList list = Counted(150);
    list.Shorten(size);
    EXPECT_EQ(list.digest(), Counted(size).digest()) << size;
    EXPECT_EQ(list.size(), size);
  }
  BlockList list = Counted(100);
  list.Set(50, BlockOf(1));
  EXPECT_NE(list.digest(), Counted(100).digest());
  list.Set(50, BlockOf(50));
  EXPECT_EQ(list.digest(), Counted(100).digest());
  EXPECT_NE((BlockList{BlockOf(1), BlockOf(2)}).digest(),
            (BlockList{BlockOf(2), BlockOf(1)}).digest());
}

TEST(BlockStore, KeepsEqualBlocksOnce) {
  const TemporaryDirectory directory;
  auto store = BlockStore::Make(directory.path(), 3 * kBlockBytes);
  ASSERT_TRUE(store.ok());
  const std::string one(kBlockBytes, '1');
  const std::string two(kBlockBytes, '2');
  for (int i = 0; i < 100; ++i) {
    for (const std::string& bytes : {one, two, std::string("12")}) {
      const auto block = store->Put(bytes);
      ASSERT_TRUE(block.ok()) << i;
      EXPECT_EQ(*store->Read(*block), bytes);
    }
  }
  EXPECT_FALSE(store->Put(std::string(kBlockBytes, '3')).ok()) << "it is full";
}

}  // namespace
}  // namespace caip::harness
