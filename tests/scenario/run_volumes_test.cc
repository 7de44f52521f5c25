#include "emulator/scenario/contents/run_volumes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace caip::scenario {
namespace {

using Use = engine::Volume::Use;

class RunVolumesTest : public testing::Test {
 protected:
  void Write(const Path& file, const std::string& text) {
    ASSERT_TRUE(MakeDirectories((home_ / file).parent_path()).ok());
    ASSERT_TRUE(WriteFile(home_ / file, text).ok());
  }
  static std::string TextOf(const Path& file) {
    const auto text = ReadFile(file);
    return text.ok() ? *text : "(missing)";
  }
  Result<std::unique_ptr<RunVolumes>> Make(bool on_machines = true, const Path& begin = {}) {
    scenario_.volumes.clear();
    for (const Path& volume : named_) scenario_.volumes.push_back(home_ / volume);
    return RunVolumes::Make(scenario_, {.directory = scratch_.path() / std::to_string(++runs_),
                                        .begin = begin,
                                        .states = {home_ / "work/state"},
                                        .on_machines = on_machines});
  }
  Path Copy(int run = 1, int volume = 0) const {
    return scratch_.path() / std::to_string(run) / std::to_string(volume);
  }

  TemporaryDirectory scratch_;
  const Path home_ = std::filesystem::canonical(scratch_.path()) / "home";
  std::vector<Path> named_ = {"work"};
  harness::Scenario scenario_;
  int runs_ = 0;
};

TEST_F(RunVolumesTest, CopiesFilesWithTheirModesTimesAndLinks) {
  Write("work/a/ckpt", "bytes");
  ::chmod((home_ / "work/a/ckpt").c_str(), 0750);
  std::filesystem::create_symlink("a/ckpt", home_ / "work/latest");
  const timespec times[] = {{100, 5}, {200, 7}};
  ::utimensat(AT_FDCWD, (home_ / "work/a/ckpt").c_str(), times, 0);
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(TextOf(Copy() / "latest"), "bytes");
  struct stat status {};
  ASSERT_EQ(::stat((Copy() / "a/ckpt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0750u);
  EXPECT_EQ(status.st_mtim.tv_sec, 200);
  EXPECT_EQ(status.st_mtim.tv_nsec, 7);
  EXPECT_TRUE(std::filesystem::is_symlink(Copy() / "latest"));
}

TEST_F(RunVolumesTest, CopiesDirectoriesWithTheirModesAndTimesWhateverTheUmask) {
  Write("work/a/ckpt", "bytes");
  ::chmod((home_ / "work/a/ckpt").c_str(), 0666);
  ::chmod((home_ / "work/a").c_str(), 0777);
  const timespec times[] = {{100, 5}, {200, 7}};
  ::utimensat(AT_FDCWD, (home_ / "work/a").c_str(), times, 0);
  const mode_t umask = ::umask(077);
  const auto volumes = Make();
  ::umask(umask);
  ASSERT_TRUE(volumes.ok());
  struct stat status {};
  ASSERT_EQ(::stat((Copy() / "a/ckpt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0666u);
  ASSERT_EQ(::stat((Copy() / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0777u);
  EXPECT_EQ(status.st_mtim.tv_sec, 200);
  EXPECT_EQ(status.st_mtim.tv_nsec, 7);
}

TEST_F(RunVolumesTest, CopiesFilesAndDirectoriesWithTheirOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files to other users";
  Write("work/a/ckpt", "bytes");
  ASSERT_EQ(::chown((home_ / "work/a").c_str(), 1234, 4321), 0);
  ASSERT_EQ(::chown((home_ / "work/a/ckpt").c_str(), 1234, 4321), 0);
  const auto volumes = Make();
  ASSERT_TRUE(volumes.ok());
  for (const char* const name : {"a", "a/ckpt"}) {
    struct stat status {};
    ASSERT_EQ(::stat((Copy() / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 1234u) << name;
    EXPECT_EQ(status.st_gid, 4321u) << name;
  }
}

TEST_F(RunVolumesTest, CopiesAFileWithTwoNamesOnce) {
  Write("work/ckpt-1", "bytes");
  std::filesystem::create_hard_link(home_ / "work/ckpt-1", home_ / "work/latest");
  Write("work/other", "bytes");
  ASSERT_TRUE(Make().ok());
  EXPECT_TRUE(std::filesystem::equivalent(Copy() / "ckpt-1", Copy() / "latest"));
  EXPECT_FALSE(std::filesystem::equivalent(Copy() / "ckpt-1", Copy() / "other"));
  EXPECT_EQ(TextOf(Copy() / "latest"), "bytes");
}

TEST_F(RunVolumesTest, ShowsHistoriesAndPythonEnvironmentsInPlace) {
  Write("work/.git/HEAD", "ref");
  Write("work/env/pyvenv.cfg", "");
  Write("work/__pycache__/x.pyc", "");
  Write("work/state/keys", "secret");
  Write("work/train.py", "");
  const auto volumes = Make();
  ASSERT_TRUE(volumes.ok());
  for (const char* name : {".git", "env", "__pycache__", "state"}) {
    EXPECT_FALSE(std::filesystem::exists(Copy() / name)) << name;
  }
  engine::ReplicaLaunch launch;
  (*volumes)->AddTo(launch);
  std::vector<std::string> shown;
  for (const engine::Volume& volume : launch.volumes) {
    if (volume.use == Use::kReadOnly) shown.push_back(Path(volume.shown).filename());
  }
  std::ranges::sort(shown);
  EXPECT_EQ(shown, (std::vector<std::string>{".git", "env"}));
}

TEST_F(RunVolumesTest, NamesFilesByTheirPathsOnTheHost) {
  std::filesystem::create_directories(home_ / "disk");
  std::filesystem::create_symlink("disk", home_ / "work");
  const auto volumes = Make();
  ASSERT_TRUE(volumes.ok());
  const std::string disk = (home_ / "disk").string();
  EXPECT_EQ((*volumes)->NameOf(disk + "/ckpt/1"), (home_ / "work/ckpt/1").string());
  EXPECT_EQ((*volumes)->NameOf(disk), (home_ / "work").string());
  EXPECT_EQ((*volumes)->NameOf(disk + "s/ckpt"), std::nullopt);
  EXPECT_EQ((*volumes)->Roots(), std::vector<Path>{disk});
}

TEST_F(RunVolumesTest, CollectsWhatTheRunHasChanged) {
  Write("work/same", "same");
  Write("work/changed", "before");
  const auto volumes = Make();
  ASSERT_TRUE(volumes.ok());
  ASSERT_TRUE(WriteFile(Copy() / "changed", "after").ok());
  ASSERT_TRUE(WriteFile(Copy() / "new", "new").ok());
  std::filesystem::create_symlink("new", Copy() / "latest");
  std::map<std::string, harness::FinalObject> objects;
  ASSERT_TRUE((*volumes)->Collect(objects).ok());
  const std::string work = (home_ / "work").string();
  ASSERT_EQ(objects.size(), 4u);
  EXPECT_EQ(objects[work + "/changed"].bytes, "after");
  EXPECT_EQ(objects[work + "/new"].bytes, "new");
  EXPECT_EQ(objects[work + "/latest"].bytes, "link to new");
  EXPECT_EQ(objects[work + "/same"].bytes, "as before the run");
  EXPECT_EQ(TextOf(home_ / "work/changed"), "before");
}

TEST_F(RunVolumesTest, BeginsWithEarlierCopies) {
  Write("work/file", "first");
  ASSERT_TRUE(Make().ok());
  Write("work/file", "second");
  const auto volumes = Make(true, scratch_.path() / "1");
  ASSERT_TRUE(volumes.ok());
  EXPECT_EQ(TextOf(Copy(2) / "file"), "first");
}

TEST_F(RunVolumesTest, TakesAVolumeInAnotherOneOnceAndAMissingOneAsEmpty) {
  named_ = {"work/out", "work", "absent"};
  Write("work/out/file", "bytes");
  const auto volumes = Make();
  ASSERT_TRUE(volumes.ok());
  engine::ReplicaLaunch launch;
  (*volumes)->AddTo(launch);
  ASSERT_EQ(launch.volumes.size(), 2u);
  EXPECT_EQ(launch.volumes[0].shown, (home_ / "absent").string());
  EXPECT_TRUE(std::filesystem::is_empty(launch.volumes[0].directory));
}

TEST_F(RunVolumesTest, AWorkingDirectoryOutsideOfVolumesIsLostWithItsMachine) {
  named_ = {"out"};
  Write("work/train.py", "");
  scenario_.working_directory = home_ / "work";
  const auto volumes = Make();
  ASSERT_TRUE(volumes.ok());
  engine::ReplicaLaunch launch;
  (*volumes)->AddTo(launch);
  ASSERT_EQ(launch.volumes.size(), 2u);
  EXPECT_EQ(launch.volumes[1].use, Use::kCopyOnWrite);
  EXPECT_EQ(launch.working_directory, (home_ / "work").string());
}

TEST_F(RunVolumesTest, AProcessWorksInACopyOfItsFolder) {
  Write("work/sub/train.py", "text");
  named_.clear();
  scenario_.working_directory = home_ / "work/sub";
  const auto volumes = Make(false);
  ASSERT_TRUE(volumes.ok());
  engine::ReplicaLaunch launch;
  (*volumes)->AddTo(launch);
  EXPECT_TRUE(launch.volumes.empty());
  EXPECT_EQ(TextOf(Path(launch.working_directory) / "train.py"), "text");
  EXPECT_EQ((*volumes)->NameOf(launch.working_directory + "/x"), (home_ / "work/sub/x").string());
  named_ = {"elsewhere"};
  const auto refused = Make(false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnimplemented);
}

TEST_F(RunVolumesTest, RefusesMoreThanItsLimit) {
  Write("work/large", "");
  std::filesystem::resize_file(home_ / "work/large", kVolumeBytesMax + 1);
  const auto refused = Make();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_NE(refused.error().message.find("--out-dir"), std::string::npos);
}

}  // namespace
}  // namespace caip::scenario
