#include "emulator/app/state/backup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "base/time_text.h"
#include "emulator/app/state/saved_places.h"
#include "emulator/app/state/stores.h"
#include "fakes/gcs/store/directory_store.h"
#include "host/store/state_directory.h"

namespace caip::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Instant kSaved = *ParseRfc3339("2027-01-02T03:04:05Z");

class Backups : public ::testing::Test {
 protected:
  Backups() {
    EXPECT_TRUE(MakeDirectories(state_).ok());
    EXPECT_EQ(::chmod(state_.c_str(), 0700), 0);
  }

  std::unique_ptr<gcs::DirectoryStore> Open(const Path& state) {
    auto store = gcs::DirectoryStore::Open({.root = state / "buckets"}, clock_);
    EXPECT_TRUE(store.ok()) << store.error().message;
    return *std::move(store);
  }
  static gcs::ObjectInfo Put(gcs::BucketStore& store, const std::string& name,
                             const std::string& bytes, const std::string& type = "text/x-a") {
    auto writer = store.NewObject("bucket", name);
    EXPECT_TRUE(writer.ok()) << writer.error().message;
    EXPECT_TRUE((*writer)->Append(bytes).ok());
    gcs::ObjectInfo info;
    info.content_type = type;
    const auto put = (*writer)->Commit(info, {}, {}, {});
    EXPECT_TRUE(put.ok()) << put.error().message;
    return *put;
  }
  void PutOne() {
    const auto store = Open(state_);
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    Put(*store, "a", "saved");
  }
  static std::string Get(const gcs::BucketStore& store, const std::string& name,
                         const gcs::Version& version = {}) {
    auto reader = store.OpenObject("bucket", name, version);
    if (!reader.ok()) return reader.error().message;
    std::string bytes((*reader)->info().size, '\0');
    EXPECT_EQ(*(*reader)->ReadAt(0, bytes.data(), bytes.size()), bytes.size());
    return bytes;
  }
  Status Save(const Path& archive, SnapshotOptions snapshot = {},
              std::function<void()> before_records = {}) {
    const auto saved = BackUpState(
        state_, archive, {"9.8.7", kSaved, std::move(snapshot), std::move(before_records)});
    return saved.ok() ? Status(Ok{}) : Status(saved.error());
  }
  void SaveAndRestore(const std::string& ending = ".tar") {
    const Path archive = folder_.path() / ("backup" + ending);
    const Status saved = Save(archive);
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    const auto restored = RestoreState(archive, restored_, "9.8.7");
    ASSERT_TRUE(restored.ok()) << restored.error().message;
  }
  std::vector<std::string> Names(const Path& directory) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory folder_;
  Path state_ = folder_.path() / "state";
  Path restored_ = folder_.path() / "restored";
  SystemClock clock_;
};

TEST_F(Backups, KeepObjectsWithTheirGenerations) {
  std::vector<gcs::ObjectInfo> put;
  {
    const auto store = Open(state_);
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    ASSERT_TRUE(store->CreateBucket("empty-bucket").ok());
    for (const std::string name :
         {"plain", "a/b", "a", "größe", "a//b", "tab\there", "back\\slash", "a%2Fb"}) {
      put.push_back(Put(*store, name, "bytes of " + name));
    }
    put.push_back(Put(*store, "large", std::string(200'000, 'x'), "text/x-large"));
  }
  SaveAndRestore();
  const auto store = Open(restored_);
  EXPECT_TRUE(store->GetBucket("empty-bucket").ok());
  for (const gcs::ObjectInfo& info : put) {
    const auto found = store->GetObject("bucket", info.name);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->generation, info.generation) << info.name;
    EXPECT_EQ(found->content_type, info.content_type);
    EXPECT_EQ(found->md5, info.md5);
    if (info.name != "large") {
      EXPECT_EQ(Get(*store, info.name), "bytes of " + info.name);
    }
  }
  struct stat facts = {};
  ASSERT_EQ(::stat(restored_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
  EXPECT_THAT(Names(folder_.path()), ElementsAre("backup.tar", "restored", "state"));
}

TEST_F(Backups, KeepOlderVersions) {
  gcs::ObjectInfo first;
  {
    const auto store = Open(state_);
    gcs::Bucket bucket;
    bucket.name = "bucket";
    bucket.settings = R"({"versioning": {"enabled": true}})";
    ASSERT_TRUE(store->CreateBucket(bucket).ok());
    first = Put(*store, "a", "one");
    Put(*store, "a", "two");
  }
  SaveAndRestore(".tar.gz");
  const auto store = Open(restored_);
  EXPECT_EQ(Get(*store, "a"), "two");
  EXPECT_EQ(Get(*store, "a", {.generation = first.generation}), "one");
}

TEST_F(Backups, TreatAFileThatAPersonChangedAsTheEmulatorDoes) {
  int64_t generation = 0;
  {
    const auto store = Open(state_);
    ASSERT_TRUE(store->CreateBucket("bucket").ok());
    generation = Put(*store, "a", "saved").generation;
    ASSERT_TRUE(WriteFile(state_ / "buckets/bucket/a", "by hand").ok());
    ASSERT_TRUE(WriteFile(state_ / "buckets/bucket/b", "by hand, too").ok());
  }
  SaveAndRestore(".tar.zst");
  const auto store = Open(restored_);
  EXPECT_EQ(Get(*store, "a"), "by hand");
  EXPECT_GT(store->GetObject("bucket", "a")->generation, generation);
  EXPECT_EQ(Get(*store, "b"), "by hand, too");
}

// The bytes of a small object are also with its record, until its file is on disk.
TEST_F(Backups, HaveNoObjectWhoseFileAPersonDeleted) {
  const auto store = Open(state_);
  ASSERT_TRUE(store->CreateBucket("bucket").ok());
  Put(*store, "gone", "bytes");
  Put(*store, "kept", "bytes");
  ASSERT_TRUE(std::filesystem::remove(state_ / "buckets/bucket/gone"));
  SaveAndRestore();
  const auto restored = Open(restored_);
  EXPECT_EQ(restored->GetObject("bucket", "gone").error().code, Code::kNotFound);
  EXPECT_EQ(Get(*restored, "kept"), "bytes");
}

// The snapshot has second names of the files, so it sees changes in place.
TEST_F(Backups, DescribeTheBytesThatWereSaved) {
  const auto store = Open(state_);
  ASSERT_TRUE(store->CreateBucket("bucket").ok());
  const gcs::ObjectInfo put = Put(*store, "a", "saved", "text/x-saved");
  const Path archive = folder_.path() / "backup.tar";
  const auto change = [&] {
    const Fd file(::open((state_ / "buckets/bucket/a").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    ASSERT_TRUE(WriteAll(file.get(), " and changed"));
    EXPECT_GT(store->GetObject("bucket", "a")->generation, put.generation);
  };
  ASSERT_TRUE(Save(archive, {}, change).ok());
  const auto done = RestoreState(archive, restored_, "9.8.7");
  ASSERT_TRUE(done.ok()) << done.error().message;
  const auto restored = Open(restored_);
  EXPECT_EQ(Get(*restored, "a"), "saved");
  EXPECT_EQ(restored->GetObject("bucket", "a")->generation, put.generation);
  EXPECT_EQ(restored->GetObject("bucket", "a")->content_type, "text/x-saved");
}

TEST_F(Backups, GiveUpInsteadOfKeepingAnEmulatorWaiting) {
  PutOne();
  const Path archive = folder_.path() / "backup.tar";
  const SnapshotOptions hasty{.patience = Duration(0)};
  {
    const auto owned = host::StateDirectory::Own(state_, "9.8.7", kSaved);
    ASSERT_TRUE(owned.ok()) << owned.error().message;
    const Status saved = Save(archive, hasty);
    ASSERT_FALSE(saved.ok());
    EXPECT_EQ(saved.error().code, Code::kUnavailable);
    EXPECT_THAT(saved.error().message, HasSubstr("End the emulator with `caip stop`"));
    EXPECT_FALSE(std::filesystem::exists(archive));
  }
  const Status saved = Save(archive, hasty);  // nobody waits
  EXPECT_TRUE(saved.ok()) << saved.error().message;
}

// A collection of garbage holds the lock of the images while it waits for their database.
TEST_F(Backups, TakeTheLockOfImagesBeforeDatabases) {
  PutOne();
  ASSERT_TRUE(MakeDirectories(state_ / "images/blobs").ok());
  const Fd other(::open((state_ / "images/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  bool is_called = false;
  const auto look = [&] {
    is_called = true;
    EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  };
  ASSERT_TRUE(Save(folder_.path() / "backup.tar", {.when_locked = look}).ok());
  EXPECT_TRUE(is_called);
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0) << "it is still locked";
}

TEST_F(Backups, ThatAreStoppedLeaveNothing) {
  PutOne();
  const auto before = Names(state_);
  const Path archive = folder_.path() / "backup.tar";
  std::stop_source stop;
  const Status saved =
      Save(archive, {.stop = stop.get_token(), .when_locked = [&stop] { stop.request_stop(); }});
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().code, Code::kCancelled);
  EXPECT_EQ(Names(state_), before);
  ASSERT_TRUE(Save(archive).ok());
  const auto restored = RestoreState(archive, restored_, "9.8.7", stop.get_token());
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code, Code::kCancelled);
  EXPECT_THAT(Names(folder_.path()), ElementsAre("backup.tar", "state"));
}

// One thread writes a and then b, again and again. At any instant, a is as new as b, or one newer.
TEST_F(Backups, AreOfOneInstantWhileObjectsAreWritten) {
  const auto store = Open(state_);
  ASSERT_TRUE(store->CreateBucket("bucket").ok());
  Put(*store, "a", "0");
  Put(*store, "b", "0");
  std::atomic<bool> stops = false;
  std::atomic<int> rounds = 0;
  std::atomic<int> larges = 0;
  std::thread small([&] {
    for (int round = 1; !stops; ++round) {
      Put(*store, "a", std::to_string(round));
      Put(*store, "b", std::to_string(round));
      rounds = round;
    }
  });
  std::thread large([&] {
    for (int round = 0; !stops; ++round) {
      Put(*store, "large/" + std::to_string(round), std::string(100'000, 'x'), "text/x-large");
      larges = round + 1;
    }
  });
  for (int time = 0; time < 5; ++time) {
    const int before = rounds;
    while (rounds < before + 2) std::this_thread::yield();
    const Path archive = folder_.path() / (std::to_string(time) + ".tar");
    const int started = rounds;
    const int made = larges;
    const Status saved = Save(archive);
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    const Path place = folder_.path() / ("restored-" + std::to_string(time));
    const auto restored = RestoreState(archive, place, "9.8.7");
    ASSERT_TRUE(restored.ok()) << restored.error().message;
    const auto copy = Open(place);
    const int a = std::stoi(Get(*copy, "a"));
    const int b = std::stoi(Get(*copy, "b"));
    EXPECT_TRUE(a == b || a == b + 1) << a << " and " << b;
    EXPECT_GE(b, started) << "an object that was acknowledged is missing";
    for (int i = 0; i < made; ++i) {
      const auto info = copy->GetObject("bucket", "large/" + std::to_string(i));
      ASSERT_TRUE(info.ok()) << info.error().message;
      EXPECT_EQ(info->content_type, "text/x-large");
    }
  }
  stops = true;
  small.join();
  large.join();
}

TEST_F(Backups, DeleteTheSnapshotsOfKilledOnes) {
  ASSERT_TRUE(MakeDirectories(state_ / ".backup-1.killed/buckets").ok());
  ASSERT_TRUE(MakeDirectories(state_ / ".backup-2.in-use/buckets").ok());
  const Fd busy(::open((state_ / ".backup-2.in-use").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(busy.get(), LOCK_EX), 0);
  ASSERT_TRUE(WriteFile(state_ / "owner.lock", "").ok());
  ASSERT_TRUE(Save(folder_.path() / "backup.tar").ok());
  EXPECT_THAT(Names(state_), ElementsAre(".backup-2.in-use", "owner.lock"));
}

// An earlier caip names a snapshot without the number of its process.
TEST_F(Backups, DeleteTheSnapshotsOfKilledOnesOfEarlierVersions) {
  ASSERT_TRUE(MakeDirectories(state_ / ".backup-aB3xYz/buckets").ok());
  ASSERT_TRUE(MakeDirectories(state_ / ".backup-in1use/buckets").ok());
  ASSERT_TRUE(MakeDirectories(state_ / ".backup-mine").ok());
  const Fd busy(::open((state_ / ".backup-in1use").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(busy.get(), LOCK_EX), 0);
  ASSERT_TRUE(WriteFile(state_ / "owner.lock", "").ok());
  ASSERT_TRUE(Save(folder_.path() / "backup.tar").ok());
  EXPECT_THAT(Names(state_), ElementsAre(".backup-in1use", ".backup-mine", "owner.lock"));
}

// libarchive has no text for a gzip file without its last bytes.
TEST_F(Backups, ThatLackTheirLastBytesAreRefusedOrWhole) {
  PutOne();
  for (const std::string ending : {".tar.gz", ".tar.zst"}) {
    const Path archive = folder_.path() / ("backup" + ending);
    const Status saved = Save(archive);
    if (!saved.ok() && saved.error().code == Code::kUnimplemented) continue;
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    const std::string whole = *ReadFile(archive);
    for (size_t missing = 1; missing <= 16; ++missing) {
      ASSERT_TRUE(WriteFile(archive, whole.substr(0, whole.size() - missing)).ok());
      const auto restored = RestoreState(archive, restored_, "9.8.7");
      if (!restored.ok()) {
        EXPECT_EQ(restored.error().code, Code::kDataLoss) << restored.error().message;
        EXPECT_FALSE(std::filesystem::exists(restored_));
        continue;
      }
      EXPECT_EQ(Get(*Open(restored_), "a"), "saved") << ending << " -" << missing;
      std::filesystem::remove_all(restored_);
    }
  }
}

TEST_F(Backups, NeverReplaceAFile) {
  const Path archive = folder_.path() / "backup.tar";
  ASSERT_TRUE(WriteFile(archive, "mine").ok());
  const Status saved = Save(archive);
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().code, Code::kAlreadyExists);
  EXPECT_EQ(*ReadFile(archive), "mine");
}

TEST_F(Backups, AreRestoredIntoAnEmptyDirectoryOnly) {
  const Path archive = folder_.path() / "backup.tar";
  ASSERT_TRUE(WriteFile(state_ / "config.yaml", "seed: 7\n").ok());
  ASSERT_TRUE(WriteFile(state_ / "owner.lock", "").ok());
  ASSERT_TRUE(Save(archive).ok());
  ASSERT_TRUE(MakeDirectories(restored_).ok());
  EXPECT_TRUE(RestoreState(archive, restored_, "9.8.7").ok());
  EXPECT_EQ(*ReadFile(restored_ / "config.yaml"), "seed: 7\n");
  ASSERT_EQ(::chmod(restored_.c_str(), 0755), 0);
  EXPECT_TRUE(host::StateDirectory::Own(restored_, "9.8.7", kSaved).ok());
  const auto again = RestoreState(archive, restored_, "9.8.7");
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("is not empty"));
}

TEST_F(Backups, KeepTheTokenOfTheContainerImage) {
  ASSERT_TRUE(WriteFile(state_ / "owner.lock", "").ok());
  ASSERT_TRUE(WriteFileDurably(state_ / "client-token", "0123456789abcdef", 0600).ok());
  SaveAndRestore();
  EXPECT_EQ(*ReadFile(restored_ / "client-token"), "0123456789abcdef");
  struct stat facts = {};
  ASSERT_EQ(::stat((restored_ / "client-token").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST(SavedPlaces, AreThoseOfTheDocumentation) {
  for (const char* saved :
       {"jobs.db", "buckets", "buckets/b/o", "buckets/.caip-versions/b/1", "images",
        "images/names.db", "images/map.json", "images/blobs/sha256/ab", "keys/client-token",
        "client-token", "config.yaml", "ca/root.pem", "policies/p/j", "uploads/ab.note"}) {
    EXPECT_TRUE(IsSavedPlace(saved)) << saved;
  }
  for (const char* other :
       {"", "owner.lock", "jobs.db-wal", "environments/e/bin/python3", "bucket", "buckets2/b",
        "images/layers/l", "images/lock", "server.log", "migrations/t/jobs.db", ".restoring",
        "jobs.db/x", "interpreters.json"}) {
    EXPECT_FALSE(IsSavedPlace(other)) << other;
  }
}

TEST(SumLine, IsThatOfSha256sum) {
  EXPECT_EQ(SumLine("ab", "state/a b"), "ab  state/a b\n");
  EXPECT_EQ(SumLine("ab", "state/a\nb\\c"), "\\ab  state/a\\nb\\\\c\n");
}

}  // namespace
}  // namespace caip::app
