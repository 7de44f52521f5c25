// Reads that are answered from memory must see every change at once, whichever client made it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/gcs/store/checksums.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

class RepeatedReads : public ::testing::Test {
 protected:
  RepeatedReads() {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    before_ = world_.Put("a/b", "first");
    EXPECT_EQ(world_.Get("a/b"), "first");
  }
  ObjectInfo Look() {
    const auto info = world_->GetObject("bkt", "a/b");
    EXPECT_TRUE(info.ok());
    return info.ok() ? *info : ObjectInfo();
  }

  StoreWorld world_;
  ObjectInfo before_;
};

TEST_F(RepeatedReads, SeeAFileEditedByHandWithItsOwnSums) {
  world_.DropByHand("a/b", "second, by hand");
  EXPECT_EQ(world_.Get("a/b"), "second, by hand");
  const ObjectInfo now = Look();
  EXPECT_GT(now.generation, before_.generation);
  EXPECT_NE(now.md5, before_.md5);
  EXPECT_EQ(now.size, 15u);
}

TEST_F(RepeatedReads, SeeAFileReplacedByHandByOneOfTheSameSize) {
  world_.DropByHand("elsewhere", "other");
  std::filesystem::rename(world_.File("elsewhere"), world_.File("a/b"));
  EXPECT_EQ(world_.Get("a/b"), "other");
  EXPECT_GT(Look().generation, before_.generation);
}

TEST_F(RepeatedReads, SeeAFileRemovedByHandAndOneThatComesBack) {
  std::filesystem::remove(world_.File("a/b"));
  EXPECT_FALSE(world_.Has("a/b"));
  world_.DropByHand("a/b", "again");
  EXPECT_EQ(world_.Get("a/b"), "again");
  EXPECT_GT(Look().generation, before_.generation);
}

TEST_F(RepeatedReads, SeeABucketRemovedAndMadeAgainByHand) {
  std::filesystem::remove_all(world_.root() / "bkt");
  EXPECT_EQ(world_->GetObject("bkt", "a/b").error().code, Code::kNotFound);
  world_.DropByHand("a/b", "new");
  EXPECT_EQ(world_.Get("a/b"), "new");
}

TEST_F(RepeatedReads, SeeNewMetadataOfTheSameBytes) {
  ObjectInfo wanted = Look();
  wanted.content_type = "text/plain";
  ASSERT_TRUE(world_->UpdateObject(wanted, {}).ok());
  EXPECT_EQ(Look().content_type, "text/plain");
  EXPECT_EQ(Look().metageneration, 2);
}

TEST_F(RepeatedReads, SeeNothingOfADeletedBucketInOneOfItsName) {
  ASSERT_TRUE(world_.Delete("a/b").ok());
  ASSERT_TRUE(world_->DeleteBucket("bkt").ok());
  ASSERT_TRUE(world_->CreateBucket("bkt").ok());
  EXPECT_FALSE(world_.Has("a/b"));
  world_.DropByHand("a/b", "first");
  EXPECT_EQ(Look().content_type, "application/octet-stream");
  EXPECT_GT(Look().generation, before_.generation);
}

TEST_F(RepeatedReads, AreTheSameAfterARestart) {
  world_.Reopen();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Look().generation, before_.generation) << i;
}

// Looks take no lock where file and record agree: they must agree all the same.
TEST_F(RepeatedReads, NeverMixOneGenerationsBytesWithAnothersRecord) {
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 300; ++i) world_.Put("a/b", std::string(1 + i % 7, 'a' + i % 26));
    done = true;
  });
  int64_t last = 0;
  do {
    auto reader = world_->OpenObject("bkt", "a/b");
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    const ObjectInfo& info = (*reader)->info();
    ASSERT_GE(info.generation, last);
    last = info.generation;
    std::string bytes(info.size, '\0');  // a reader of kept bytes has no descriptor
    const auto count = (*reader)->ReadAt(0, bytes.data(), bytes.size());
    ASSERT_TRUE(count.ok() && *count == bytes.size());
    Hasher hasher;
    hasher.Add(bytes);
    ASSERT_EQ(hasher.Finish().md5, info.md5);
  } while (!done);
  writer.join();
}

}  // namespace
}  // namespace caip::gcs
