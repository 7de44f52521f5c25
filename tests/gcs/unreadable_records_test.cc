// While the side store cannot be read, requests fail. The store never takes that for a missing
// record: it would give objects new generations and buckets default settings.

#include <gmock/gmock.h>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

/// While it lives, every statement on the table fails.
class HiddenTable {
 public:
  HiddenTable(const Path& file, std::string table)
      : database_(file, errors::SideStoreFailed), table_(std::move(table)) {
    EXPECT_TRUE(database_.Open(SqliteDatabase::Mode::kExisting).ok());
    Rename(table_, "hidden");
  }
  ~HiddenTable() { Rename("hidden", table_); }
  HiddenTable(const HiddenTable&) = delete;
  HiddenTable& operator=(const HiddenTable&) = delete;

 private:
  void Rename(const std::string& from, const std::string& to) {
    EXPECT_TRUE(database_.Run(("ALTER TABLE " + from + " RENAME TO " + to).c_str()).ok());
  }
  SqliteDatabase database_;
  std::string table_;
};

class UnreadableRecords : public ::testing::Test {
 protected:
  void SetUp() override {
    Bucket bucket;
    bucket.name = "bkt";
    bucket.storage_class = "NEARLINE";
    bucket.settings = R"({"versioning":{"enabled":true}})";
    ASSERT_TRUE(world_->CreateBucket(bucket).ok());
    world_.Put("a", "1");
    world_.Put("a", "2");
    world_.Reopen();  // nothing is cached
  }
  StoreWorld world_;
};

TEST_F(UnreadableRecords, DoNotGiveAnObjectANewGeneration) {
  const auto before = world_->GetObject("bkt", "a");
  ASSERT_TRUE(before.ok());
  world_.Reopen();
  {
    const HiddenTable hidden(world_.side_file(), "objects");
    EXPECT_EQ(world_->GetObject("bkt", "a").error().code, Code::kInternal);
    EXPECT_EQ(world_->List("bkt", {}).error().code, Code::kInternal);
    EXPECT_EQ(world_->DeleteObject("bkt", "a", {}).error().code, Code::kInternal);
  }
  EXPECT_EQ(world_->GetObject("bkt", "a")->generation, before->generation);
  EXPECT_EQ(world_->List("bkt", {})->items[0].generation, before->generation);
}

TEST_F(UnreadableRecords, DoNotGiveABucketDefaultSettings) {
  {
    const HiddenTable hidden(world_.side_file(), "buckets");
    EXPECT_EQ(world_->GetBucket("bkt").error().code, Code::kInternal);
    EXPECT_EQ(world_->ListBuckets().error().code, Code::kInternal);
    EXPECT_EQ(world_->DeleteObject("bkt", "a", {}).error().code, Code::kInternal);
  }
  EXPECT_EQ(world_->GetBucket("bkt")->storage_class, "NEARLINE");
}

TEST_F(UnreadableRecords, DoNotRemoveVersions) {
  ListQuery all;
  all.versions = true;
  const auto before = world_->List("bkt", all);
  ASSERT_TRUE(before.ok());
  ASSERT_EQ(before->items.size(), 2u);
  {
    const HiddenTable hidden(world_.side_file(), "versions");
    EXPECT_EQ(world_->List("bkt", all).error().code, Code::kInternal);
    const Version old{before->items[0].generation};
    EXPECT_EQ(world_->GetObject("bkt", "a", old).error().code, Code::kInternal);
    EXPECT_EQ(world_->DeleteBucket("bkt").error().code, Code::kInternal);
  }
  const auto after = world_->List("bkt", all);
  ASSERT_EQ(after->items.size(), 2u);
  EXPECT_EQ(after->items[0].generation, before->items[0].generation);
}

}  // namespace
}  // namespace caip::gcs
