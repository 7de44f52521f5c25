// Settings and metadata that the disk does not take. The process may write no file beyond its first
// byte meanwhile, as on a full disk.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

class FullDisk {
 public:
  FullDisk() : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{.rlim_cur = 1, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

class FullDiskTest : public ::testing::Test {
 protected:
  static constexpr int kKilled = 9;

  FullDiskTest() {
    Open();
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    world_.Put("a", "bytes");
    EXPECT_TRUE(Describe("old").ok());
    EXPECT_TRUE(Label("old").ok());
  }

  void Open() {
    const auto step = [this] {
      if (const auto on_step = on_step_) on_step();
    };
    world_.Open({.root = world_.root(), .durable = true, .between_steps = step});
  }
  /// Runs `work` on the store in a process of its own, which ends in it.
  void KillInside(const std::function<void()>& work) {
    world_.Close();
    const pid_t child = ::fork();
    if (child == 0) {
      Open();
      work();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), kKilled);
    Open();
  }

  Result<ObjectInfo> Describe(const std::string& type, int64_t generation = 0) {
    ASSIGN_OR_RETURN(ObjectInfo info,
                     world_->GetObject("bkt", "a", {.generation = generation, .unsaved = true}));
    info.content_type = type;
    return world_->UpdateObject(info, {});
  }
  Result<Bucket> Label(const std::string& value) {
    ASSIGN_OR_RETURN(Bucket bucket, world_->GetUnsavedBucket("bkt"));
    bucket.labels["k"] = value;
    return world_->UpdateBucket(bucket);
  }
  std::string Label() { return world_->GetBucket("bkt")->labels["k"]; }
  std::string Type() { return world_->GetObject("bkt", "a")->content_type; }

  /// While the disk is full, makes two changes, the second one based on the first one. The thread
  /// of the first one learns first that the disk has refused it.
  void RefuseTwo(const std::function<bool(const std::string&)>& change) {
    const FullDisk full;
    std::promise<void> is_refused;
    std::promise<void> may_withdraw;
    int steps = 0;
    std::thread first;
    on_step_ = [&] {
      if (++steps == 1) {
        is_refused.set_value();
        may_withdraw.get_future().wait();
      } else {
        may_withdraw.set_value();
        first.join();
      }
    };
    first = std::thread([&] { EXPECT_FALSE(change("first")); });
    is_refused.get_future().wait();
    EXPECT_FALSE(change("second"));
    on_step_ = {};
  }
  /// The same, but the thread of the second one learns first.
  void RefuseInside(const std::function<bool(const std::string&)>& change) {
    const FullDisk full;
    on_step_ = [&] {
      on_step_ = {};
      EXPECT_FALSE(change("second"));
    };
    EXPECT_FALSE(change("first"));
  }

  void KeepVersions() {
    Bucket bucket = *world_->GetBucket("bkt");
    bucket.settings = R"({"versioning": {"enabled": true}})";
    EXPECT_TRUE(world_->UpdateBucket(bucket).ok());
  }
  void KeepDeletedObjects() {
    Bucket bucket = *world_->GetBucket("bkt");
    bucket.settings = R"({"softDeletePolicy":{"retentionDurationSeconds":"3600"}})";
    EXPECT_TRUE(world_->UpdateBucket(bucket).ok());
  }
  size_t CountDeletedObjects() {
    const auto listed = world_->List("bkt", {.soft_deleted = true});
    EXPECT_TRUE(listed.ok());
    return listed->items.size();
  }

  std::function<void()> on_step_;  // a change calls it when the disk has taken or refused it
  StoreWorld world_{true};
};

TEST_F(FullDiskTest, DoesNotShowSettingsThatItDidNotTake) {
  {
    const FullDisk full;
    EXPECT_FALSE(Label("new").ok());
    EXPECT_EQ(Label(), "old");
  }
  EXPECT_EQ(Label(), "old") << "the refused change has no later effect";
  EXPECT_TRUE(Label("next").ok());
  world_.Reopen();
  EXPECT_EQ(Label(), "next");
}

TEST_F(FullDiskTest, DoesNotHoldTheNameOfABucketThatItDidNotTake) {
  Bucket wanted;
  wanted.name = "fresh";
  wanted.labels["k"] = "refused";
  {
    const FullDisk full;
    EXPECT_FALSE(world_->CreateBucket(wanted).ok());
    const auto shown = world_->GetBucket("fresh");
    ASSERT_FALSE(shown.ok());
    EXPECT_EQ(shown.error().code, Code::kNotFound);
  }
  wanted.labels["k"] = "taken";
  const auto created = world_->CreateBucket(wanted);
  EXPECT_TRUE(created.ok()) << created.error().message;
  world_.Reopen();
  EXPECT_EQ(world_->GetBucket("fresh")->labels["k"], "taken");
}

// Another client that creates the bucket gets 409. It may look at the bucket, or change it, at
// once.
TEST_F(FullDiskTest, ShowsANewBucketWithItsSettings) {
  Bucket wanted;
  wanted.name = "fresh";
  wanted.location = "EU";
  wanted.labels["k"] = "wanted";
  on_step_ = [&] {
    on_step_ = {};
    EXPECT_FALSE(world_->CreateBucket(wanted).ok());
    const auto shown = world_->GetBucket("fresh");
    ASSERT_TRUE(shown.ok()) << shown.error().message;
    EXPECT_EQ(shown->location, "EU");
    Bucket changed = *world_->GetUnsavedBucket("fresh");
    changed.labels["other"] = "changed";
    EXPECT_TRUE(world_->UpdateBucket(changed).ok());
  };
  EXPECT_TRUE(world_->CreateBucket(wanted).ok());
  for (int start = 0; start < 2; ++start) {
    const auto bucket = world_->GetBucket("fresh");
    ASSERT_TRUE(bucket.ok()) << bucket.error().message;
    EXPECT_EQ(bucket->location, "EU");
    const std::map<std::string, std::string> labels = {{"k", "wanted"}, {"other", "changed"}};
    EXPECT_EQ(bucket->labels, labels) << "the change was acknowledged";
    world_.Reopen();
  }
}

// The rows of versions of a bucket that was removed go with it, also when its name is taken at
// once.
TEST_F(FullDiskTest, ForgetsTheRecordsOfABucketWhoseRemovalItDidNotTake) {
  KeepDeletedObjects();
  ASSERT_TRUE(world_.Delete("a").ok());
  ASSERT_EQ(CountDeletedObjects(), 1u);
  {
    const FullDisk full;
    EXPECT_FALSE(world_->DeleteBucket("bkt").ok());
  }
  std::filesystem::create_directory(world_.root() / "bkt");  // by hand
  ASSERT_TRUE(world_->GetBucket("bkt").ok());
  EXPECT_EQ(CountDeletedObjects(), 0u);
  world_.Reopen();
  EXPECT_EQ(CountDeletedObjects(), 0u);
}

TEST_F(FullDiskTest, DoesNotShowMetadataThatItDidNotTake) {
  {
    const FullDisk full;
    EXPECT_FALSE(Describe("new").ok());
    EXPECT_EQ(world_->GetObject("bkt", "a")->content_type, "old");
  }
  world_.Put("b", "saves what waits");
  EXPECT_EQ(world_->GetObject("bkt", "a")->content_type, "old");
  EXPECT_TRUE(Describe("next").ok());
  world_.Reopen();
  EXPECT_EQ(world_->GetObject("bkt", "a")->content_type, "next");
}

// A reader who saw a change that the disk refuses would take a later one for it.
TEST_F(FullDiskTest, ShowsNoSettingsBeforeTheirChangeHasEnded) {
  int looked = 0;
  on_step_ = [&] {
    ++looked;
    EXPECT_EQ(Label(), "old");
    EXPECT_EQ(world_->ListBuckets()->at(0).labels["k"], "old");
  };
  EXPECT_TRUE(Label("new").ok());
  EXPECT_EQ(looked, 1);
  EXPECT_EQ(Label(), "new");
}

TEST_F(FullDiskTest, ShowsNoMetadataBeforeItsChangeHasEnded) {
  const ObjectInfo before = *world_->GetObject("bkt", "a");
  int looked = 0;
  on_step_ = [&] {
    ++looked;
    EXPECT_EQ(world_->GetObject("bkt", "a")->metageneration, before.metageneration);
    EXPECT_EQ(Type(), "old");
    EXPECT_EQ(world_->GetObject("bkt", "a", {.generation = before.generation})->content_type,
              "old");
    EXPECT_EQ((*world_->OpenObject("bkt", "a"))->info().content_type, "old");
    EXPECT_EQ(world_->List("bkt", {})->items.at(0).content_type, "old");
  };
  EXPECT_TRUE(Describe("new").ok());
  EXPECT_EQ(looked, 1);
  on_step_ = {};
  EXPECT_EQ(Type(), "new");
  EXPECT_EQ(world_->List("bkt", {})->items.at(0).content_type, "new");
}

TEST_F(FullDiskTest, ShowsNoMetadataOfAnEarlierVersionBeforeItsChangeHasEnded) {
  KeepVersions();
  const int64_t earlier = world_->GetObject("bkt", "a")->generation;
  world_.Put("a", "replaced");
  int looked = 0;
  on_step_ = [&] {
    ++looked;
    EXPECT_EQ(world_->GetObject("bkt", "a", {.generation = earlier})->content_type, "old");
    EXPECT_EQ(world_->List("bkt", {.versions = true})->items.at(0).content_type, "old");
  };
  EXPECT_TRUE(Describe("new", earlier).ok());
  EXPECT_EQ(looked, 1);
  on_step_ = {};
  EXPECT_EQ(world_->List("bkt", {.versions = true})->items.at(0).content_type, "new");
}

// Until the thread sleeps or has ended.
void WaitUntilIdle(const std::atomic<pid_t>& thread) {
  for (char state = 'R'; state == 'R';) {
    const pid_t id = thread;
    const auto text = ReadFile("/proc/self/task/" + std::to_string(id) + "/stat");
    if (id != 0) state = text.ok() ? text->at(text->rfind(')') + 2) : 'X';
  }
}

// Metadata that is changed all the time has always a change that is not on disk yet.
TEST_F(FullDiskTest, LetsADeletionPassUpdatesThatComeLater) {
  std::thread deletion;
  std::thread update;
  std::atomic<pid_t> deleting = 0;
  std::atomic<pid_t> updating = 0;
  std::atomic<int> steps = 0;
  on_step_ = [&] {
    if (++steps > 1) return;
    deletion = std::thread([&] {
      deleting = ::gettid();
      EXPECT_TRUE(world_.Delete("a").ok());
    });
    WaitUntilIdle(deleting);
    update = std::thread([&] {
      updating = ::gettid();
      EXPECT_FALSE(Describe("late").ok());
    });
    WaitUntilIdle(updating);
  };
  EXPECT_TRUE(Describe("early").ok());
  deletion.join();
  update.join();
  EXPECT_FALSE(world_.Has("a"));
}

TEST_F(FullDiskTest, DoesNotDeleteAnEarlierVersionLaterWhenItRefusedTo) {
  KeepVersions();
  const int64_t earlier = world_->GetObject("bkt", "a")->generation;
  world_.Put("a", "replaced");
  {
    const FullDisk full;
    EXPECT_FALSE(world_->DeleteObject("bkt", "a", {}, {.generation = earlier}).ok());
  }
  world_.Put("b", "saves what waits");
  EXPECT_TRUE(world_->GetObject("bkt", "a", {.generation = earlier}).ok());
  EXPECT_TRUE(world_->DeleteObject("bkt", "a", {}, {.generation = earlier}).ok());
  EXPECT_FALSE(world_->GetObject("bkt", "a", {.generation = earlier}).ok());
}

// The disk refuses the object, and takes another one before the first client hears of it. Then the
// emulator is killed.
TEST_F(FullDiskTest, DoesNotMakeAnObjectLaterThatItRefused) {
  const ObjectInfo before = *world_->GetObject("bkt", "a");
  KillInside([this] {
    std::optional<FullDisk> full;
    int steps = 0;
    on_step_ = [&] {
      if (++steps == 1) full.emplace();
      if (steps != 2) return;
      on_step_ = {};
      full.reset();
      world_.Put("b", "saves what waits");
      ::_exit(kKilled);
    };
    (void)world_.TryPut("a", "new").ok();
  });
  EXPECT_TRUE(world_.Has("b"));
  EXPECT_EQ(world_.Get("a"), "bytes");
  const ObjectInfo after = *world_->GetObject("bkt", "a");
  EXPECT_EQ(after.generation, before.generation);
  EXPECT_EQ(after.content_type, before.content_type);
}

TEST_F(FullDiskTest, DoesNotDeleteAnEarlierVersionInAnotherCommitWhenItRefusedTo) {
  KeepVersions();
  const int64_t earlier = world_->GetObject("bkt", "a")->generation;
  world_.Put("a", "replaced");
  ASSERT_TRUE(world_->CreateBucket("other").ok());
  KillInside([&] {
    std::optional<FullDisk> full(std::in_place);
    on_step_ = [&] {
      on_step_ = {};
      full.reset();
      const auto writer = world_->NewObject("other", "b");
      EXPECT_TRUE((*writer)->Commit({}, {}, std::nullopt, std::nullopt).ok());
    };
    EXPECT_FALSE(world_->DeleteObject("bkt", "a", {}, {.generation = earlier}).ok());
    ::_exit(kKilled);
  });
  EXPECT_TRUE(world_->GetObject("other", "b").ok());
  EXPECT_TRUE(world_->GetObject("bkt", "a", {.generation = earlier}).ok());
}

TEST_F(FullDiskTest, DoesNotShowMetadataOfAnEarlierVersionThatItDidNotTake) {
  KeepVersions();
  const int64_t earlier = world_->GetObject("bkt", "a")->generation;
  world_.Put("a", "replaced");
  {
    const FullDisk full;
    EXPECT_FALSE(Describe("new", earlier).ok());
    EXPECT_EQ(world_->GetObject("bkt", "a", {.generation = earlier})->content_type, "old");
  }
}

TEST_F(FullDiskTest, DoesNotShowSettingsThatWereBasedOnThoseThatItDidNotTake) {
  const auto change = [this](const std::string& value) { return Label(value).ok(); };
  RefuseTwo(change);
  EXPECT_EQ(Label(), "old");
  RefuseInside(change);
  EXPECT_EQ(Label(), "old");
  world_.Reopen();
  EXPECT_EQ(Label(), "old");
}

TEST_F(FullDiskTest, DoesNotShowMetadataThatWereBasedOnThoseThatItDidNotTake) {
  const auto change = [this](const std::string& value) { return Describe(value).ok(); };
  RefuseTwo(change);
  EXPECT_EQ(Type(), "old");
  RefuseInside(change);
  EXPECT_EQ(Type(), "old");
  world_.Reopen();
  EXPECT_EQ(Type(), "old");
}

TEST_F(FullDiskTest, DoesNotLetSettingsThatItDidNotTakeReplaceLaterOnes) {
  Bucket bucket;
  on_step_ = [&] { bucket = *world_->GetUnsavedBucket("bkt"); };
  {
    const FullDisk full;
    EXPECT_FALSE(Label("refused").ok());
  }
  on_step_ = {};
  ASSERT_EQ(bucket.labels["k"], "refused") << "the test means to read what is withdrawn";
  ASSERT_TRUE(Label("later").ok());
  bucket.labels["other"] = "x";
  const auto replaced = world_->UpdateBucket(bucket);
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().code, Code::kAborted);
  EXPECT_EQ(Label(), "later");
}

TEST_F(FullDiskTest, DoesNotLetMetadataThatItDidNotTakeReplaceLaterOnes) {
  ObjectInfo info;
  on_step_ = [&] { info = *world_->GetObject("bkt", "a", {.unsaved = true}); };
  {
    const FullDisk full;
    EXPECT_FALSE(Describe("refused").ok());
  }
  on_step_ = {};
  ASSERT_EQ(info.content_type, "refused") << "the test means to read what is withdrawn";
  const auto later = Describe("later");
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->metageneration, info.metageneration) << "clients count the saved changes";
  info.cache_control = "no-store";
  const auto replaced =
      world_->UpdateObject(info, {.if_metageneration_match = info.metageneration});
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().code, Code::kAborted);
  EXPECT_EQ(Type(), "later");
}

// A deleted object is kept for a while. The disk takes neither that nor the deletion.
TEST_F(FullDiskTest, KeepsNoDeletedCopyOfAnObjectThatItDidNotDelete) {
  KeepDeletedObjects();
  {
    const FullDisk full;
    EXPECT_FALSE(world_.Delete("a").ok());
  }
  world_.Put("b", "saves what waits");
  EXPECT_EQ(world_.Get("a"), "bytes");
  EXPECT_EQ(CountDeletedObjects(), 0u);
  world_.Reopen();
  EXPECT_EQ(world_.Get("a"), "bytes");
  EXPECT_EQ(CountDeletedObjects(), 0u);
}

// The disk takes the copy, and is full when the new object is to be saved.
TEST_F(FullDiskTest, KeepsNoDeletedCopyOfAnObjectThatItDidNotReplace) {
  KeepDeletedObjects();
  std::optional<FullDisk> full;
  on_step_ = [&] {
    if (!full) full.emplace();
  };
  EXPECT_FALSE(world_.TryPut("a", "new").ok());
  on_step_ = {};
  full.reset();
  world_.Put("b", "saves what waits");
  EXPECT_EQ(world_.Get("a"), "bytes");
  EXPECT_EQ(CountDeletedObjects(), 0u);
  EXPECT_TRUE(world_.Delete("a").ok());
  EXPECT_EQ(CountDeletedObjects(), 1u);
}

}  // namespace
}  // namespace caip::gcs
