// The files of small objects are synced later. Their bytes are forgotten then, so nothing that the
// disk does not have may count as synced. The tests see which files and directories are opened.

#include "fakes/gcs/store/file_sync.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/side_store.h"

namespace caip::gcs {
namespace {

constexpr const char* kItself = "";  // the directory that is watched

/// Notes what is opened in a directory.
class OpenWatch {
 public:
  explicit OpenWatch(const Path& directory) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(fd_.get(), directory.c_str(), IN_OPEN), 0) << directory;
  }
  std::set<std::string> Opened() {
    alignas(inotify_event) char buffer[64 * (sizeof(inotify_event) + NAME_MAX + 1)];
    for (ssize_t size; (size = ::read(fd_.get(), buffer, sizeof buffer)) > 0;) {
      for (const char* at = buffer; at < buffer + size;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(at);
        opened_.insert(event->len > 0 ? event->name : kItself);
        at += sizeof(inotify_event) + event->len;
      }
    }
    return opened_;
  }

 private:
  Fd fd_;
  std::set<std::string> opened_;
};

class FileSyncTest : public ::testing::Test {
 protected:
  FileSyncTest() {
    std::filesystem::create_directories(folder());
    auto side = SideStore::Open(side_file(), true, 1);
    EXPECT_TRUE(side.ok());
    side_ = std::move(*side);
    root_ = Fd(::open(root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  Path root() const { return directory_.path() / "buckets"; }
  Path folder() const { return root() / "bkt" / "folder"; }
  Path side_file() const { return directory_.path() / "buckets.db"; }

  FileIdentity Write(const Path& path, const std::string& bytes) const {
    EXPECT_TRUE(WriteFile(path, bytes).ok());
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return IdentityOf(status);
  }
  int64_t KeptObjects() const {
    SqliteDatabase database(side_file(), errors::SideStoreFailed);
    EXPECT_TRUE(database.Open(SqliteDatabase::Mode::kExisting).ok());
    const auto count = database.Number("SELECT count(*) FROM small_objects");
    return count.ok() ? *count : -1;
  }
  // Commits the object bkt/folder/a with this file, and waits until its bytes are forgotten.
  void SyncObject(const FileIdentity& file, FileSync::BucketLocker lock_bucket) {
    auto record = std::make_shared<ObjectRecord>();
    record->info.bucket = "bkt";
    record->info.name = "folder/a";
    record->info.generation = 1;
    record->file = file;
    const uint64_t sequence = side_->StageSmallObject(record, "bytes");
    ASSERT_TRUE(side_->Flush().ok());
    ASSERT_EQ(KeptObjects(), 1);
    FileSync sync(root_.get(), *side_, Duration(0), std::move(lock_bucket));
    sync.AddPlaced(sequence, *record);
    const auto deadline = MonotonicNow() + std::chrono::seconds(60);
    while (KeptObjects() > 0) ASSERT_LT(MonotonicNow(), deadline);
  }
  std::unique_lock<std::mutex> Lock() { return std::unique_lock(mutex_); }

  TemporaryDirectory directory_;
  std::mutex mutex_;
  Fd root_;
  std::unique_ptr<SideStore> side_;
};

TEST_F(FileSyncTest, SyncsAFileAndItsDirectories) {
  const FileIdentity file = Write(folder() / "a", "bytes");
  OpenWatch watch(folder());
  SyncObject(file, [this](const std::string&) { return Lock(); });
  EXPECT_EQ(watch.Opened(), (std::set<std::string>{kItself, "a"}));
}

// Another thread moves the file aside or back while it holds the bucket's lock.
TEST_F(FileSyncTest, FindsAFileThatMovesMeanwhile) {
  const Path away = folder() / "away";
  const FileIdentity file = Write(away, "bytes");
  OpenWatch watch(folder());
  std::atomic<bool> is_back{false};
  SyncObject(file, [&](const std::string& bucket) {
    EXPECT_EQ(bucket, "bkt");
    if (!is_back.exchange(true)) std::filesystem::rename(away, folder() / "a");
    return Lock();
  });
  EXPECT_EQ(watch.Opened().count("a"), 1u) << "the file was not synced";
}

// The deletion may not be on disk yet: after a power failure, the object could have its file again,
// without its bytes.
TEST_F(FileSyncTest, SyncsADeletionBeforeItForgetsTheBytes) {
  const FileIdentity file = Write(folder() / "a", "bytes");
  std::filesystem::remove(folder() / "a");
  OpenWatch watch(folder());
  SyncObject(file, [this](const std::string&) { return Lock(); });
  EXPECT_EQ(watch.Opened().count(kItself), 1u) << "the directory was not synced";
}

TEST_F(FileSyncTest, SyncsAReplacementBeforeItForgetsTheBytes) {
  const FileIdentity file = Write(folder() / "a", "bytes");
  const Path newer = folder() / "newer";
  Write(newer, "other bytes");
  std::filesystem::rename(newer, folder() / "a");
  OpenWatch watch(folder());
  SyncObject(file, [this](const std::string&) { return Lock(); });
  EXPECT_EQ(watch.Opened().count(kItself), 1u) << "the directory was not synced";
}

TEST_F(FileSyncTest, ForgetsTheBytesOfARemovedBucket) {
  const FileIdentity file = Write(folder() / "a", "bytes");
  std::filesystem::remove_all(root() / "bkt");
  SyncObject(file, [this](const std::string&) { return Lock(); });
}

}  // namespace
}  // namespace caip::gcs
