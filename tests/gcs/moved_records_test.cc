#include "fakes/gcs/store/moved_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::gcs {
namespace {

namespace fs = std::filesystem;

/// A store, and links to its files and a copy of its records as they are at one step of a commit.
class MovedRecords : public ::testing::Test {
 protected:
  std::unique_ptr<DirectoryStore> OpenAt(const Path& folder, std::function<void()> step = {}) {
    auto store = DirectoryStore::Open(
        {.root = folder / "buckets", .boot = "one boot", .between_steps = std::move(step)}, clock_);
    EXPECT_TRUE(store.ok()) << store.error().message;
    return *std::move(store);
  }
  static ObjectInfo PutTyped(DirectoryStore& store, const std::string& name,
                             const std::string& bytes, const std::string& type) {
    auto writer = store.NewObject("bucket", name);
    EXPECT_TRUE((*writer)->Append(bytes).ok());
    ObjectInfo info;
    info.content_type = type;
    const auto put = (*writer)->Commit(info, {}, {}, {});
    EXPECT_TRUE(put.ok()) << put.error().message;
    return *put;
  }
  void TakeSnapshot() {
    fs::copy(live_ / "buckets", taken_ / "buckets",
             fs::copy_options::recursive | fs::copy_options::create_hard_links);
    SqliteDatabase database(live_ / "buckets.db", errors::SideStoreFailed);
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kReadOnly).ok());
    ASSERT_TRUE(database.CopyTo(taken_ / "buckets.db").ok());
  }
  FileIdentifier IdentifyTaken() const { return *IdentifyBelow(taken_ / "buckets"); }
  /// Copies the files with new inodes.
  void MoveSnapshot() {
    const Status detached = DetachRecords(taken_ / "buckets.db", IdentifyTaken());
    ASSERT_TRUE(detached.ok()) << detached.error().message;
    fs::copy(taken_, moved_, fs::copy_options::recursive);
  }

  TemporaryDirectory folder_;
  Path live_ = folder_.path() / "live";
  Path taken_ = folder_.path() / "taken";
  Path moved_ = folder_.path() / "moved";
  SystemClock clock_;
};

TEST_F(MovedRecords, OfAnObjectThatWasBeingReplacedAreAdopted) {
  ASSERT_TRUE(MakeDirectories(live_).ok());
  ASSERT_TRUE(MakeDirectories(taken_).ok());
  bool takes = false;
  int steps = 0;
  ObjectInfo put;
  {
    const auto store = OpenAt(live_, [&] {
      // the second step of a large object: its file is in place, and its record is not
      if (takes && ++steps == 2) TakeSnapshot();
    });
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    PutTyped(*store, "a", std::string(100'000, 'o'), "text/x-old");
    takes = true;
    put = PutTyped(*store, "a", std::string(100'001, 'n'), "text/x-new");
    takes = false;
    PutTyped(*store, "later", std::string(100'000, 'l'), "text/x-later");
  }
  ASSERT_TRUE(AdoptLaterRecords(taken_ / "buckets.db", IdentifyTaken(), live_ / "buckets.db").ok());
  MoveSnapshot();
  const Status attached = AttachRecords(moved_ / "buckets.db", moved_ / "buckets");
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  const auto store = OpenAt(moved_);
  const auto found = store->GetObject("bucket", "a");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->content_type, "text/x-new");
  EXPECT_EQ(found->generation, put.generation);
  EXPECT_EQ(found->size, 100'001u);
  EXPECT_EQ(store->GetObject("bucket", "later").error().code, Code::kNotFound);
  EXPECT_GT(PutTyped(*store, "b", "b", "text/x-b").generation, put.generation);
}

TEST_F(MovedRecords, OfAMissingFileAreRefused) {
  ASSERT_TRUE(MakeDirectories(live_).ok());
  ASSERT_TRUE(MakeDirectories(taken_).ok());
  {
    const auto store = OpenAt(live_);
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    PutTyped(*store, "a", std::string(100'000, 'a'), "text/x-a");
    TakeSnapshot();
  }
  MoveSnapshot();
  fs::resize_file(moved_ / "buckets/bucket/a", 7);
  const Status attached = AttachRecords(moved_ / "buckets.db", moved_ / "buckets");
  ASSERT_FALSE(attached.ok());
  EXPECT_EQ(attached.error().code, Code::kDataLoss);
}

// The file of a small object gets its name after its commit. Until then it is among the unfinished
// files, and opening the store completes the commit.
TEST_F(MovedRecords, OfASmallObjectThatWasBeingCommittedAreKept) {
  ASSERT_TRUE(MakeDirectories(live_).ok());
  ASSERT_TRUE(MakeDirectories(taken_).ok());
  bool takes = false;
  int steps = 0;
  {
    const auto store = OpenAt(live_, [&] {
      // the second step of a small object: it is committed, and its file has no name
      if (takes && ++steps == 2) TakeSnapshot();
    });
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    takes = true;
    PutTyped(*store, "small", "bytes", "text/x-small");
    takes = false;
  }
  ASSERT_FALSE(fs::exists(taken_ / "buckets/bucket/small"));
  OpenAt(taken_).reset();
  MoveSnapshot();
  ASSERT_TRUE(AttachRecords(moved_ / "buckets.db", moved_ / "buckets").ok());
  const auto store = OpenAt(moved_);
  const auto found = store->GetObject("bucket", "small");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->content_type, "text/x-small");
  EXPECT_EQ(*ReadFile(moved_ / "buckets/bucket/small"), "bytes");
}

// The bytes of a small object are kept with its record until its file is on disk.
TEST_F(MovedRecords, OfAFileThatAPersonDeletedAreForgotten) {
  ASSERT_TRUE(MakeDirectories(live_).ok());
  ASSERT_TRUE(MakeDirectories(taken_).ok());
  {
    const auto store = OpenAt(live_);
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    PutTyped(*store, "gone", "bytes", "text/x-gone");
    PutTyped(*store, "kept", "bytes", "text/x-kept");
    fs::remove(live_ / "buckets/bucket/gone");
    TakeSnapshot();
  }
  OpenAt(taken_).reset();
  MoveSnapshot();
  ASSERT_TRUE(AttachRecords(moved_ / "buckets.db", moved_ / "buckets").ok());
  auto store = DirectoryStore::Open({.root = moved_ / "buckets", .boot = "another boot"}, clock_);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ((*store)->GetObject("bucket", "gone").error().code, Code::kNotFound);
  EXPECT_EQ((*store)->GetObject("bucket", "kept")->content_type, "text/x-kept");
}

// Where a file has no second name, a copy has its bytes and its time. An inode of a copy may be
// that of another original.
TEST_F(MovedRecords, OfCopiesDescribeTheCopies) {
  ASSERT_TRUE(MakeDirectories(live_).ok());
  ASSERT_TRUE(MakeDirectories(taken_ / "buckets/bucket").ok());
  std::vector<ObjectInfo> put;
  {
    const auto store = OpenAt(live_);
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    for (const std::string name : {"a", "b"}) {
      put.push_back(PutTyped(*store, name, "bytes of " + name, "text/x-" + name));
    }
    SqliteDatabase database(live_ / "buckets.db", errors::SideStoreFailed);
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kReadOnly).ok());
    ASSERT_TRUE(database.CopyTo(taken_ / "buckets.db").ok());
    put.push_back(PutTyped(*store, "later", "bytes of later", "text/x-later"));
  }
  CopiedInodes copies;
  const auto originals = *IdentifyBelow(live_ / "buckets");
  for (const ObjectInfo& info : put) {
    const std::string path = "bucket/" + info.name;
    fs::copy(live_ / "buckets" / path, taken_ / "buckets" / path);
    fs::last_write_time(taken_ / "buckets" / path, fs::last_write_time(live_ / "buckets" / path));
    const FileIdentity original = *originals(path);
    copies[{original.inode, original.modified_ns}] = IdentifyTaken()(path)->inode;
  }
  ASSERT_TRUE(RenumberRecords(taken_ / "buckets.db", copies).ok());
  ASSERT_TRUE(
      AdoptLaterRecords(taken_ / "buckets.db", IdentifyTaken(), live_ / "buckets.db", copies).ok());
  const auto store = OpenAt(taken_);
  for (const ObjectInfo& info : put) {
    const auto found = store->GetObject("bucket", info.name);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->generation, info.generation);
    EXPECT_EQ(found->content_type, info.content_type);
  }
}

}  // namespace
}  // namespace caip::gcs
