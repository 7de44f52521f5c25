// Small objects are committed with their bytes. Their files reach the disk later.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

constexpr int kStepsMax = 20;

class SmallObjectsTest : public ::testing::Test {
 protected:
  SmallObjectsTest() {
    Open("first boot");
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
  }

  void Open(const std::string& boot, Duration sync_delay = std::chrono::hours(1)) {
    world_.Open({.root = world_.root(), .boot = boot, .sync_delay = sync_delay});
  }
  void OpenWithSteps(std::function<void()> between_steps) {
    world_.Open({.root = world_.root(),
                 .boot = "first boot",
                 .temporary_patience = Duration(0),  // each file in a directory of its own
                 .between_steps = std::move(between_steps)});
  }
  ObjectInfo PutTyped(const std::string& name, std::string_view bytes) {
    ObjectInfo info;
    info.content_type = "text/made";
    const auto put = world_.TryPut(name, bytes, {}, info);
    EXPECT_TRUE(put.ok()) << put.error().message;
    return put.ok() ? *put : ObjectInfo();
  }
  int64_t KeptObjects() const {
    SqliteDatabase database(world_.side_file(), errors::SideStoreFailed);
    EXPECT_TRUE(database.Open(SqliteDatabase::Mode::kExisting).ok());
    const auto count = database.Number("SELECT count(*) FROM small_objects");
    EXPECT_TRUE(count.ok());
    return count.ok() ? *count : -1;
  }
  size_t TemporaryFiles() const { return FilesIn(world_.root() / ".caip-tmp").size(); }

  StoreWorld world_{true};
};

TEST_F(SmallObjectsTest, ComeBackAfterAPowerFailureThatDamagedTheirFiles) {
  const ObjectInfo removed = PutTyped("removed", "one");
  const ObjectInfo emptied = PutTyped("a/emptied", "two");
  const ObjectInfo zeroed = PutTyped("zeroed", "three");
  const ObjectInfo intact = PutTyped("intact", "four");
  world_.Close();
  std::filesystem::remove(world_.File("removed"));
  const std::map<std::string, std::string> damaged = {{"a/emptied", ""},
                                                      {"zeroed", std::string(5, 0)}};
  for (const auto& [name, bytes] : damaged) {
    const auto before = std::filesystem::last_write_time(world_.File(name));
    std::ofstream(world_.File(name)) << bytes;
    std::filesystem::last_write_time(world_.File(name), before);
  }
  Open("second boot");
  EXPECT_EQ(world_.Get("removed"), "one");
  EXPECT_EQ(world_.Get("a/emptied"), "two");
  EXPECT_EQ(world_.Get("zeroed"), "three");
  EXPECT_EQ(world_.Get("intact"), "four");
  for (const ObjectInfo& put : {removed, emptied, zeroed, intact}) {
    const auto now = world_->GetObject("bkt", put.name);
    ASSERT_TRUE(now.ok()) << put.name;
    EXPECT_EQ(now->generation, put.generation) << put.name;
    EXPECT_EQ(now->content_type, "text/made") << put.name;
  }
  EXPECT_EQ(KeptObjects(), 0) << "their files are on disk now";
}

TEST_F(SmallObjectsTest, ThatWereReplacedOrDeletedDoNotComeBack) {
  PutTyped("replaced", "old");
  PutTyped("deleted", "old");
  PutTyped("replaced", "new");
  EXPECT_TRUE(world_.Delete("deleted").ok());
  world_.Close();
  Open("second boot");
  EXPECT_EQ(world_.Get("replaced"), "new");
  EXPECT_FALSE(world_.Has("deleted"));
}

TEST_F(SmallObjectsTest, ThatWereMovedOrBecameVersionsKeepTheirBytesInTheirFiles) {
  PutTyped("from", "moved");
  ASSERT_TRUE(world_->MoveObject("bkt", "from", "to", {}, {}).ok());
  world_.Close();
  Open("second boot");
  EXPECT_EQ(world_.Get("to"), "moved");
  EXPECT_FALSE(world_.Has("from"));
}

TEST_F(SmallObjectsTest, KeepWhatAPersonChangedBeforeThePowerFailure) {
  PutTyped("edited", "by the API");
  world_.Close();
  std::ofstream(world_.File("edited")) << "by hand";
  std::filesystem::last_write_time(
      world_.File("edited"),
      std::filesystem::file_time_type::clock::now() + std::chrono::seconds(1));
  Open("second boot");
  EXPECT_EQ(world_.Get("edited"), "by hand");
}

TEST_F(SmallObjectsTest, LeaveWhatAPersonDidWhileTheHostWasRunning) {
  PutTyped("edited", "by the API");
  PutTyped("deleted", "by the API");
  world_.Close();
  std::ofstream(world_.File("edited")) << "by hand";
  std::filesystem::remove(world_.File("deleted"));
  Open("first boot");
  EXPECT_EQ(world_.Get("edited"), "by hand");
  EXPECT_FALSE(world_.Has("deleted"));
}

TEST_F(SmallObjectsTest, AreWholeWhereverTheProcessEnds) {
  for (int step = 0; step < kStepsMax; ++step) {
    const std::string before = "before " + std::to_string(step);
    const std::string after = "after " + std::to_string(step);
    Open("first boot");
    world_.Put("made", before);
    world_.Close();
    const pid_t child = ::fork();
    if (child == 0) {
      int left = step;
      OpenWithSteps([&left] {
        if (left-- == 0) ::_exit(9);
      });
      ::_exit(world_.TryPut("made", after).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_NE(WEXITSTATUS(status), 1);
    Open("first boot");
    const std::string now = world_.Get("made");
    EXPECT_EQ(now, step == 0 ? before : after) << "step " << step;
    EXPECT_EQ(TemporaryFiles(), 0u) << "step " << step;
    if (WEXITSTATUS(status) == 0) return;
  }
  FAIL() << "the commit has no end";
}

TEST_F(SmallObjectsTest, ShowTheOldObjectUntilTheNewOneIsInPlace) {
  const ObjectInfo old = world_.Put("made", "old");
  int steps = 0;
  OpenWithSteps([&] {
    if (++steps != 2) return;  // committed, but not in place
    EXPECT_EQ(world_.Get("made"), "old");
    const auto listed = world_->List("bkt", {});
    ASSERT_TRUE(listed.ok());
    ASSERT_EQ(listed->items.size(), 1u);
    EXPECT_EQ(listed->items[0].generation, old.generation);
  });
  const ObjectInfo replaced = world_.Put("made", "newer");
  EXPECT_EQ(world_.Get("made"), "newer");
  EXPECT_EQ(world_->GetObject("bkt", "made")->generation, replaced.generation);
  EXPECT_EQ(steps, 3);
}

TEST_F(SmallObjectsTest, ThatAreReplacedStayWithTheirReadersOnly) {
  world_.Put("made", "the old bytes");
  const auto reader = world_->OpenObject("bkt", "made", {});
  ASSERT_TRUE(reader.ok());
  world_.Put("made", "new");
  char buffer[64];
  const auto count = (*reader)->ReadAt(0, buffer, sizeof buffer);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(std::string(buffer, *count), "the old bytes");
  EXPECT_EQ(world_.Get("made"), "new");
  EXPECT_EQ(TemporaryFiles(), 0u);
}

TEST_F(SmallObjectsTest, LetOnlyOneOfTwoCreatorsWin) {
  const Preconditions absent{.if_generation_match = 0};
  std::future<bool> second;
  int steps = 0;
  OpenWithSteps([&] {
    if (++steps != 2) return;  // the first is committed, but not in place
    second = std::async(std::launch::async,
                        [&] { return world_.TryPut("made", "second", absent).ok(); });
  });
  EXPECT_TRUE(world_.TryPut("made", "first", absent).ok());
  EXPECT_FALSE(second.get());
  EXPECT_EQ(world_.Get("made"), "first");
}

TEST_F(SmallObjectsTest, OfManyWritersAndDeletersAreNotLost) {
  world_.Put("a", "stays");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {  // "a" is a file, then a directory, then a file again, ...
      const std::string name = "a/b/" + std::to_string(t);
      for (int i = 0; i < 20; ++i) {
        world_.Put(name, std::to_string(i));
        EXPECT_EQ(world_.Get(name), std::to_string(i));
        EXPECT_TRUE(world_.Delete(name).ok());
        EXPECT_EQ(world_.Get("a"), "stays");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(world_.Names(), std::vector<std::string>{"a"});
  EXPECT_EQ(TemporaryFiles(), 0u);
}

// A change that keeps a version waits for its commit while it holds the bucket's lock.
TEST_F(SmallObjectsTest, OfManyWritersKeepTheirVersions) {
  auto bucket = world_->GetBucket("bkt");
  ASSERT_TRUE(bucket.ok());
  bucket->settings = R"({"versioning":{"enabled":true}})";
  ASSERT_TRUE(world_->UpdateBucket(*bucket).ok());
  constexpr int kRounds = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, name = "made" + std::to_string(t)] {
      for (int i = 0; i < kRounds; ++i) world_.Put(name, std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto listed = world_->List("bkt", {.versions = true});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->items.size(), threads.size() * kRounds);
  for (int t = 0; t < 6; ++t) {
    EXPECT_EQ(world_.Get("made" + std::to_string(t)), std::to_string(kRounds - 1));
  }
}

TEST_F(SmallObjectsTest, ThatGetNoFileDoNotExist) {
  world_.Put("there", "old");
  std::filesystem::create_directory_symlink(world_.root(), world_.File("link"));
  const auto refused = world_.TryPut("link/made", "new");
  ASSERT_FALSE(refused.ok());
  EXPECT_FALSE(world_.Has("link/made"));
  EXPECT_EQ(TemporaryFiles(), 0u);
  world_.Close();
  Open("second boot");
  EXPECT_FALSE(world_.Has("link/made"));
  EXPECT_EQ(world_.Get("there"), "old");
}

// The process ended when the object was committed, and a person took its place before the next
// start.
TEST_F(SmallObjectsTest, LeaveWhatIsInTheirPlace) {
  world_.Close();
  const pid_t child = ::fork();
  if (child == 0) {
    int steps = 0;
    OpenWithSteps([&steps] {
      if (++steps == 2) ::_exit(9);
    });
    ::_exit(world_.TryPut("a/made", "new").ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  std::filesystem::create_directory_symlink(world_.root(), world_.File("a"));
  Open("first boot");
  EXPECT_FALSE(world_.Has("a/made"));
  EXPECT_EQ(TemporaryFiles(), 0u);
}

TEST_F(SmallObjectsTest, LeaveTheSideStoreWhenTheirFilesAreSynced) {
  world_.Put("made", "bytes");
  EXPECT_EQ(KeptObjects(), 1);
  Open("first boot", Duration(0));
  world_.Put("more", "bytes");
  const auto deadline = MonotonicNow() + std::chrono::seconds(60);
  while (KeptObjects() > 0) ASSERT_LT(MonotonicNow(), deadline);
  EXPECT_EQ(world_.Get("made"), "bytes");
}

// The store could not start otherwise.
TEST_F(SmallObjectsTest, LeaveWhatTookTheirPlaceBeforeAPowerFailure) {
  world_.Put("d/made", "bytes");
  world_.Put("other", "two");
  world_.Close();
  std::filesystem::remove_all(world_.File("d"));
  std::filesystem::remove(world_.File("other"));
  const TemporaryDirectory elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), world_.File("d"));
  Open("second boot");
  EXPECT_FALSE(world_.Has("d/made"));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
  EXPECT_EQ(world_.Get("other"), "two");
}

// Each short command opens the store, and puts a package.
TEST_F(SmallObjectsTest, DoNotPileUpOverManyShortStarts) {
  int64_t most = 0;
  for (int i = 0; i < 150; ++i) {
    Open("first boot");
    PutTyped("put " + std::to_string(i), "bytes");
    most = std::max(most, KeptObjects());
  }
  EXPECT_LT(most, 60);
  Open("second boot");
  for (int i = 0; i < 150; ++i) EXPECT_EQ(world_.Get("put " + std::to_string(i)), "bytes");
}

TEST_F(SmallObjectsTest, OnlyAreTheseThatAreDurableAndSmall) {
  world_.Put("large", std::string(kSmallObjectBytes + 1, 'x'));
  EXPECT_EQ(KeptObjects(), 0);
  world_.Put("largest", std::string(kSmallObjectBytes, 'x'));
  EXPECT_EQ(KeptObjects(), 1);
  world_.Open({.root = world_.root(), .durable = false, .boot = "first boot"});
  world_.Put("relaxed", "x");
  EXPECT_EQ(KeptObjects(), 1);
}

// New files that take long are made in other directories. No directory stays.
TEST_F(SmallObjectsTest, MayBeMadeInDirectoriesOfTheirOwn) {
  world_.Open({.root = world_.root(), .boot = "first boot", .temporary_patience = Duration(0)});
  std::vector<std::future<void>> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.push_back(std::async(std::launch::async, [this, writer] {
      for (int i = 0; i < 50; ++i) world_.Put(std::to_string(i % 20), std::to_string(writer));
    }));
  }
  for (std::future<void>& writer : writers) writer.get();
  const Path temporary = world_.root() / ".caip-tmp";
  const std::filesystem::directory_iterator folders(temporary);
  const auto count = std::distance(begin(folders), end(folders));
  EXPECT_GE(count, 1) << "no directory was made";
  EXPECT_LE(count, 5) << "directories without files stay";
  for (const auto& folder : std::filesystem::directory_iterator(temporary)) {
    std::filesystem::remove_all(folder);  // by hand
  }
  EXPECT_EQ(world_.Put("20", "bytes").size, 5u);
  EXPECT_EQ(world_.Names().size(), 21u);
  world_.Close();
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

// The kept bytes of the object that is replaced are newer than the moved file.
TEST_F(SmallObjectsTest, DoNotReplaceAnObjectThatWasMovedBeforeAPowerFailure) {
  bool is_killed = true;
  for (int step = 0; is_killed; ++step) {
    ASSERT_LT(step, kStepsMax) << "the move has no end";
    Open("first boot");
    PutTyped("d/moved", "first");
    PutTyped("replaced", "later");
    world_.Close();
    const pid_t child = ::fork();
    if (child == 0) {
      int left = step;
      OpenWithSteps([&left] {
        if (left-- == 0) ::_exit(9);
      });
      ::_exit(world_->MoveObject("bkt", "d/moved", "replaced", {}, {}).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    is_killed = WEXITSTATUS(status) == 9;
    ASSERT_EQ(WEXITSTATUS(status), is_killed ? 9 : 0);
    Open("second boot");
    const bool is_there = world_->GetObject("bkt", "d/moved").ok();
    EXPECT_EQ(world_.Get(is_there ? "d/moved" : "replaced"), "first") << "step " << step;
  }
}

}  // namespace
}  // namespace caip::gcs
