// Object versioning, soft deletion, holds and retention, of the directory store.
#include <gmock/gmock.h>

#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class VersionsTest : public ::testing::Test {
 protected:
  VersionsTest() { EXPECT_TRUE(world_->CreateBucket("bkt").ok()); }

  void Set(const std::string& settings) {
    Bucket bucket = *world_->GetBucket("bkt");
    bucket.settings = settings;
    ASSERT_TRUE(world_->UpdateBucket(bucket).ok());
  }
  std::string Read(const std::string& name, const Version& version) {
    auto reader = world_->OpenObject("bkt", name, version);
    if (!reader.ok()) return "error: " + reader.error().message;
    std::string bytes((*reader)->info().size, '\0');
    EXPECT_TRUE((*reader)->ReadAt(0, bytes.data(), bytes.size()).ok());
    return bytes;
  }
  // "name=bytes" of each, with a star after the live ones.
  std::vector<std::string> All(ListQuery query = {.versions = true}) {
    std::vector<std::string> all;
    do {
      const auto page = world_->List("bkt", query);
      EXPECT_TRUE(page.ok());
      for (const ObjectInfo& item : page->items) {
        const bool soft = item.hard_delete_time.has_value();
        const bool live = !soft && !item.time_deleted;
        all.push_back(item.name + "=" + Read(item.name, {item.generation, soft}) +
                      (live ? "*" : ""));
      }
      for (const std::string& prefix : page->prefixes) all.push_back(prefix);
      query.page_token = page->next_page_token;
    } while (!query.page_token.empty());
    return all;
  }
  Status Delete(const std::string& name, const Version& version = {}) {
    return world_->DeleteObject("bkt", name, {}, version);
  }
  bool NoVersionFiles() {
    const Path kept = world_.root() / ".caip-versions" / "bkt";
    return !std::filesystem::exists(kept) || std::filesystem::is_empty(kept);
  }

  StoreWorld world_;
};

constexpr const char* kVersioned = R"({"versioning":{"enabled":true}})";
constexpr const char* kSoft = R"({"softDeletePolicy":{"retentionDurationSeconds":"3600"}})";

TEST_F(VersionsTest, KeepsNothingWhereTheBucketDoesNotSaySo) {
  const auto first = world_.Put("a", "one");
  world_.Put("a", "two");
  EXPECT_THAT(All(), ElementsAre("a=two*"));
  EXPECT_EQ(world_->GetObject("bkt", "a", {first.generation}).error().code, Code::kNotFound);
  EXPECT_TRUE(NoVersionFiles());
}

TEST_F(VersionsTest, KeepsWhatIsOverwrittenAndDeleted) {
  Set(kVersioned);
  const auto first = world_.Put("a", "one");
  const auto second = world_.Put("a", "two");
  world_.Put("b", "other");
  ASSERT_TRUE(Delete("a").ok());
  EXPECT_THAT(All(), ElementsAre("a=one", "a=two", "b=other*"));
  EXPECT_THAT(world_.Names(), ElementsAre("b"));
  EXPECT_FALSE(world_.Has("a"));
  EXPECT_EQ(Delete("a").error().code, Code::kNotFound);  // there is no live one any more
  EXPECT_EQ(Read("a", {first.generation}), "one");
  const auto kept = world_->GetObject("bkt", "a", {second.generation});
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->md5, second.md5);
  EXPECT_EQ(kept->metageneration, 1);
  EXPECT_TRUE(kept->time_deleted.has_value());
}

TEST_F(VersionsTest, DeletesAVersionForGood) {
  Set(kVersioned);
  const auto first = world_.Put("a", "one");
  const auto second = world_.Put("a", "two");
  ASSERT_TRUE(Delete("a", {first.generation}).ok());
  EXPECT_THAT(All(), ElementsAre("a=two*"));
  ASSERT_TRUE(Delete("a", {second.generation}).ok());  // the live one, by its number
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_TRUE(NoVersionFiles());
  EXPECT_EQ(Delete("a", {second.generation}).error().code, Code::kNotFound);
}

TEST_F(VersionsTest, RemembersThemOverARestart) {
  Set(kVersioned);
  world_.Put("a", "one");
  world_.Put("a", "two");
  world_.Reopen();
  EXPECT_THAT(All(), ElementsAre("a=one", "a=two*"));
}

TEST_F(VersionsTest, KeepsAFileThatWasDroppedByHand) {
  Set(kVersioned);
  world_.DropByHand("a", "by hand");
  world_.Put("a", "two");
  EXPECT_THAT(All(), ElementsAre("a=by hand", "a=two*"));
}

TEST_F(VersionsTest, ClearsFilesThatNoRecordKnows) {
  Set(kVersioned);
  world_.Put("a", "one");
  world_.Put("a", "two");
  world_.Close();
  std::filesystem::remove(world_.side_file());
  world_.Reopen();
  EXPECT_THAT(All(), ElementsAre("a=two*"));
  EXPECT_TRUE(NoVersionFiles());
}

TEST_F(VersionsTest, ListsInPagesOfAnySize) {
  Set(kVersioned);
  for (const char* name : {"a", "a/b", "a/c", "b", "c"}) {
    world_.Put(name, "1");
    world_.Put(name, "2");
  }
  world_.Put("a", "3");
  ASSERT_TRUE(Delete("b").ok());
  const auto whole = All();
  EXPECT_THAT(whole, ElementsAre("a=1", "a=2", "a=3*", "a/b=1", "a/b=2*", "a/c=1", "a/c=2*", "b=1",
                                 "b=2", "c=1", "c=2*"));
  for (int size = 1; size <= 11; ++size) {
    EXPECT_EQ(All({.max_results = size, .versions = true}), whole) << size;
  }
  EXPECT_THAT(All({.delimiter = "/", .versions = true}),
              ElementsAre("a=1", "a=2", "a=3*", "b=1", "b=2", "c=1", "c=2*", "a/"));
  EXPECT_THAT(All({.prefix = "a/", .versions = true}),
              ElementsAre("a/b=1", "a/b=2*", "a/c=1", "a/c=2*"));
}

TEST_F(VersionsTest, ChangesTheMetadataOfAVersion) {
  Set(kVersioned);
  auto first = world_.Put("a", "one");
  world_.Put("a", "two");
  first.metadata = {{"k", "v"}};
  ASSERT_TRUE(world_->UpdateObject(first, {}).ok());
  EXPECT_EQ(world_->GetObject("bkt", "a", {first.generation})->metadata.at("k"), "v");
  EXPECT_TRUE(world_->GetObject("bkt", "a")->metadata.empty());
}

TEST_F(VersionsTest, CountForABucketsEmptiness) {
  Set(kVersioned);
  const auto only = world_.Put("a", "one");
  ASSERT_TRUE(Delete("a").ok());
  EXPECT_EQ(world_->DeleteBucket("bkt").error().code, Code::kFailedPrecondition);
  ASSERT_TRUE(Delete("a", {only.generation}).ok());
  EXPECT_TRUE(world_->DeleteBucket("bkt").ok());
}

TEST_F(VersionsTest, KeepsSoftDeletedObjectsForTheirTime) {
  Set(kSoft);
  const auto first = world_.Put("a", "one");
  world_.Put("a", "two");
  ASSERT_TRUE(Delete("a").ok());
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_THAT(All({.soft_deleted = true}), ElementsAre("a=one", "a=two"));
  EXPECT_EQ(world_->GetObject("bkt", "a", {first.generation}).error().code, Code::kNotFound);
  EXPECT_EQ(Read("a", {first.generation, true}), "one");
  world_.clock().Advance(seconds(3600));
  EXPECT_THAT(All({.soft_deleted = true}), IsEmpty());
  EXPECT_FALSE(NoVersionFiles());
  world_.Reopen();
  EXPECT_TRUE(NoVersionFiles());
}

TEST_F(VersionsTest, SoftDeletesNoncurrentVersionsThatAreDeletedForGood) {
  Set(R"({"versioning":{"enabled":true},"softDeletePolicy":{"retentionDurationSeconds":3600}})");
  const auto first = world_.Put("a", "one");
  world_.Put("a", "two");
  EXPECT_THAT(All({.soft_deleted = true}), IsEmpty());
  ASSERT_TRUE(Delete("a", {first.generation}).ok());
  EXPECT_THAT(All(), ElementsAre("a=two*"));
  EXPECT_THAT(All({.soft_deleted = true}), ElementsAre("a=one"));
}

TEST_F(VersionsTest, ForbidsToLoseWhatIsHeldOrRetained) {
  auto held = world_.Put("held", "1");
  held.temporary_hold = true;
  ASSERT_TRUE(world_->UpdateObject(held, {}).ok());
  EXPECT_EQ(Delete("held").error().code, Code::kPermissionDenied);
  EXPECT_EQ(world_.TryPut("held", "2").error().code, Code::kPermissionDenied);
  EXPECT_EQ(world_->MoveObject("bkt", "held", "else", {}, {}).error().code,
            Code::kPermissionDenied);
  Set(R"({"retentionPolicy":{"retentionPeriod":"60"}})");
  world_.Put("kept", "1");
  world_.clock().Advance(seconds(59));
  EXPECT_EQ(Delete("kept").error().code, Code::kPermissionDenied);
  EXPECT_EQ(world_.Get("kept"), "1");
  world_.clock().Advance(seconds(1));
  EXPECT_TRUE(Delete("kept").ok());
}

TEST_F(VersionsTest, RetainsFromTheEndOfAnEventBasedHoldOn) {
  Set(R"({"defaultEventBasedHold":true,"retentionPolicy":{"retentionPeriod":"60"}})");
  auto info = world_.Put("a", "1");
  EXPECT_TRUE(info.event_based_hold);
  world_.clock().Advance(hours(1));
  EXPECT_EQ(Delete("a").error().code, Code::kPermissionDenied);
  info.event_based_hold = false;
  ASSERT_TRUE(world_->UpdateObject(info, {}).ok());
  EXPECT_EQ(Delete("a").error().code, Code::kPermissionDenied);
  world_.clock().Advance(seconds(60));
  EXPECT_TRUE(Delete("a").ok());
}

TEST_F(VersionsTest, MovesAnObjectInOneStep) {
  const auto before = world_.Put("a", "bytes");
  const auto moved = world_->MoveObject("bkt", "a", "a/b", {}, {});
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  EXPECT_GT(moved->generation, before.generation);
  EXPECT_EQ(moved->md5, before.md5);
  EXPECT_THAT(world_.Names(), ElementsAre("a/b"));
  EXPECT_EQ(world_.Get("a/b"), "bytes");
  EXPECT_EQ(world_->GetObject("bkt", "a/b")->generation, moved->generation);
  ASSERT_TRUE(world_->MoveObject("bkt", "a/b", "a", {}, {.if_generation_match = 0}).ok());
  EXPECT_THAT(world_.Names(), ElementsAre("a"));
  world_.Put("c", "c");
  EXPECT_EQ(world_->MoveObject("bkt", "a", "c", {}, {.if_generation_match = 0}).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ(world_->MoveObject("bkt", "a", "a", {}, {}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(world_->MoveObject("bkt", "none", "x", {}, {}).error().code, Code::kNotFound);
  EXPECT_TRUE(FilesIn(world_.root() / ".caip-tmp").empty());
}

TEST_F(VersionsTest, KeepsTheSourceOfAMoveWhereVersionsAreKept) {
  Set(kVersioned);
  world_.Put("a", "one");
  world_.Put("b", "two");
  ASSERT_TRUE(world_->MoveObject("bkt", "a", "b", {}, {}).ok());
  EXPECT_THAT(All(), ElementsAre("a=one", "b=two", "b=one*"));
}

}  // namespace
}  // namespace caip::gcs
