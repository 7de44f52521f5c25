// Records of what replicas do to files, and the files that are restored from them.

#include "emulator/scenario/contents/file_recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <string>

namespace caip::scenario {
namespace {

using Kind = host::FileOperation::Kind;

constexpr int64_t kSecond = 1'000'000'000;
const std::map<Kind, std::string> kOps = {{Kind::kMakeDirectory, "mkdir"},
                                          {Kind::kCreate, "create"},
                                          {Kind::kRename, "rename"},
                                          {Kind::kWhole, "create"}};

/// A volume "/v", in which the test does what a replica would do.
class FileRecorderTest : public testing::Test {
 protected:
  FileRecorderTest() {
    std::filesystem::create_directory(volume_);
    auto store = harness::BlockStore::Make(scratch_.path(), 1 << 20);
    if (store.ok()) store_ = std::make_shared<harness::BlockStore>(*std::move(store));
    recorder_.emplace(store_);
  }

  /// The run begins with the files that are in the volume.
  void Begin() {
    harness::FileTree files;
    AddTree("/v", volume_, files, [](const Path&) { return false; });
    recorder_->Begin(std::move(files), [this](const std::string& name) {
      return name == "/v" ? volume_ : volume_ / name.substr(3);
    });
  }
  /// The operation has taken effect.
  void Take(Kind kind, const std::string& name, const std::string& to = "",
            bool sets_time = false) {
    const auto op = kOps.find(kind);
    harness::StorageEvent event{.op = op == kOps.end() ? "" : op->second, .object = "/v/" + name};
    if (!to.empty()) event.from = "/v/" + to;
    host::FileOperation operation{kind, "/v/" + name};
    operation.sets_time = sets_time;
    recorder_->Take({"master-0", operation, event, 0, acts_});
  }
  void Make(const std::string& name) {
    std::filesystem::create_directory(volume_ / name);
    Take(Kind::kMakeDirectory, name);
  }
  void Save(const std::string& name) {
    ASSERT_TRUE(WriteFile(volume_ / name, "").ok());
    Take(Kind::kCreate, name);
    Take(Kind::kWhole, name);
  }
  void SetMode(const std::string& name, mode_t mode) {
    ASSERT_EQ(::chmod((volume_ / name).c_str(), mode), 0);
    Take(Kind::kAttributes, name);
  }
  void SetTime(const std::string& name, time_t second) {
    SetTimeSilently(name, second);
    Take(Kind::kAttributes, name, "", true);
  }
  void SetTimeSilently(const std::string& name, time_t second) {
    const timespec times[] = {{second, 0}, {second, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (volume_ / name).c_str(), times, 0), 0);
  }

  /// Restores the files at the end of the log into a copy of those of the beginning.
  void Restore() {
    ASSERT_TRUE(recorder_->outcome().ok()) << recorder_->outcome().error().message;
    const auto outcome = RestoreTree(recorder_->log()->now(), *store_, "/v", restored_, volume_);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  }
  struct stat Restored(const std::string& name) {
    struct stat status {};
    EXPECT_EQ(::lstat((restored_ / name).c_str(), &status), 0) << name;
    return status;
  }
  mode_t ModeOf(const std::string& name) { return Restored(name).st_mode & 07777; }

  TemporaryDirectory scratch_;
  const Path volume_ = scratch_.path() / "volume";
  const Path restored_ = scratch_.path() / "restored";
  std::shared_ptr<harness::BlockStore> store_;
  std::optional<FileRecorder> recorder_;
  size_t acts_ = 0;
};

TEST_F(FileRecorderTest, RestoresModesThatWereSetAfterTheLastWrite) {
  Begin();
  Make("d");
  Save("d/state");
  SetMode("d/state", 0400);
  SetMode("d", 0710);
  std::filesystem::create_directory(restored_);
  Restore();
  EXPECT_EQ(ModeOf("d/state"), 0400u);
  EXPECT_EQ(ModeOf("d"), 0710u);
}

TEST_F(FileRecorderTest, RestoresModesOfFilesThatDidNotChangeOtherwise) {
  ASSERT_TRUE(WriteFile(volume_ / "script", "#!").ok());
  ASSERT_EQ(::chmod((volume_ / "script").c_str(), 0644), 0);
  std::filesystem::copy(volume_, restored_, std::filesystem::copy_options::recursive);
  Begin();
  SetMode("script", 0755);
  Restore();
  EXPECT_EQ(ModeOf("script"), 0755u);
}

TEST_F(FileRecorderTest, RestoresTimesThatWereSet) {
  Begin();
  Save("state");
  SetTime("state", 200);
  EXPECT_TRUE(recorder_->log()->now().Find("/v/state")->has_set_time);
  SetMode("state", 0600);
  EXPECT_TRUE(recorder_->log()->now().Find("/v/state")->has_set_time);
  std::filesystem::create_directory(restored_);
  Restore();
  EXPECT_EQ(Restored("state").st_mtim.tv_sec, 200);
  ASSERT_EQ(::utimensat(AT_FDCWD, (volume_ / "state").c_str(), nullptr, 0), 0);
  Take(Kind::kAttributes, "state");
  EXPECT_FALSE(recorder_->log()->now().Find("/v/state")->has_set_time) << "it was touched";
  EXPECT_GT(recorder_->log()->now().Find("/v/state")->modified_ns, 200 * kSecond);
}

TEST_F(FileRecorderTest, CountsNoTimesOfTheClock) {
  Begin();
  Save("lock");
  ASSERT_TRUE(WriteFile(volume_ / "lock", "").ok());  // with a new time, but the same size
  SetMode("lock", 0600);
  EXPECT_FALSE(recorder_->log()->now().Find("/v/lock")->has_set_time);
  Save("copy");
  timespec now{};
  ASSERT_EQ(::clock_gettime(CLOCK_REALTIME_COARSE, &now), 0);
  const timespec times[] = {now, now};
  ASSERT_EQ(::utimensat(AT_FDCWD, (volume_ / "copy").c_str(), times, 0), 0);
  Take(Kind::kAttributes, "copy", "", true);
  EXPECT_FALSE(recorder_->log()->now().Find("/v/copy")->has_set_time) << "as after cp -p";
}

TEST_F(FileRecorderTest, RestoresTimesOfDirectoriesWhoseEntriesChanged) {
  Begin();
  Make("old");
  Make("new");
  Save("new/state");
  ASSERT_TRUE(WriteFile(volume_ / "old/mark", "").ok());
  SetTimeSilently("old", 300);  // stands for the clock
  Take(Kind::kCreate, "old/mark");
  Take(Kind::kWhole, "old/mark");
  std::filesystem::rename(volume_ / "new/state", volume_ / "old/state");
  SetTimeSilently("new", 400);
  SetTimeSilently("old", 400);
  Take(Kind::kRename, "new/state", "old/state");
  std::filesystem::create_directory(restored_);
  Restore();
  EXPECT_EQ(Restored("old").st_mtim.tv_sec, 400);
  EXPECT_EQ(Restored("new").st_mtim.tv_sec, 400);
}

TEST_F(FileRecorderTest, RestoresTheOwnersOfFiles) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files to other users";
  Begin();
  ASSERT_TRUE(WriteFile(volume_ / "theirs", "").ok());
  ASSERT_EQ(::chown((volume_ / "theirs").c_str(), 1234, 4321), 0);
  Take(Kind::kCreate, "theirs");
  Take(Kind::kWhole, "theirs");
  SetMode("theirs", 02750);
  std::filesystem::create_directory(restored_);
  Restore();
  EXPECT_EQ(Restored("theirs").st_uid, 1234u);
  EXPECT_EQ(Restored("theirs").st_gid, 4321u);
  EXPECT_EQ(Restored("theirs").st_mode & 07777, 02750u);
}

}  // namespace
}  // namespace caip::scenario
