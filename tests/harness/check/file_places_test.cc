#include "harness/check/file_places.h"

#include <gtest/gtest.h>

#include "places.h"

namespace caip::harness {
namespace {

constexpr char kDisk[] = "/state/disks/master-0";

/// A session by somebody at home in /home/ann, of a run whose master has a boot disk.
class FilePlacesTest : public ::testing::Test {
 protected:
  FilePlacesTest() {
    session_.trainer.home = "/home/ann";
    session_.trainer.here = "/home/ann/project";
    session_.trainer.source = "/home/ann/project/trainer";
    session_.trainer.workshop = "/home/ann/.local/state/caip/scenarios/1";
    run_.launched.push_back({.replica = "master-0",
                             .argv = {},
                             .environment = {{"HOME", std::string(kDisk) + "/root"},
                                             {"TMPDIR", std::string(kDisk) + "/tmp"},
                                             {"CLOUD_ML_HP_METRIC_FILE", "/somewhere/metric"}},
                             .boot_disk = kDisk,
                             .directory = std::string(kDisk) + "/user_dir"});
  }
  static TouchedFile Touched(const std::string& path, const std::string& replica = "master-0") {
    TouchedFile file;
    file.replica = replica;
    file.path = path;
    return file;
  }
  static TouchedFile OnDisk(const std::string& path) {
    return Touched(std::string(kDisk) + "/" + path);
  }
  FilePlaces Places() const { return {session_, run_}; }

  CheckSession session_;
  CheckRun run_;
};

TEST_F(FilePlacesTest, AMachineHasWhatItWroteOnItsDisk) {
  run_.launched.front().boot_disk = "";
  TouchedFile read_of_host = Touched("/data/a");
  EXPECT_FALSE(Places().IsOnBootDisk(read_of_host));
  TouchedFile written = Touched("/data/b");
  written.written = true;
  EXPECT_TRUE(Places().IsOnBootDisk(written));
  TouchedFile given = Touched("/user_dir/trainer.tar.gz");
  given.is_on_own_disk = true;
  EXPECT_TRUE(Places().IsOnBootDisk(given));
}

TEST_F(FilePlacesTest, AFolderContainsItselfAndItsFiles) {
  EXPECT_TRUE(IsBelow("/a/b", "/a/b"));
  EXPECT_TRUE(IsBelow("/a/b/c", "/a/b"));
  EXPECT_FALSE(IsBelow("/a/bc", "/a/b"));
  EXPECT_FALSE(IsBelow("/a", "/a/b"));
  EXPECT_FALSE(IsBelow("/a", "/")) << "that would be everything";
  EXPECT_FALSE(IsBelow("/a", ""));
}

TEST_F(FilePlacesTest, AFileIsShownFromTheNearestPlaceWithAName) {
  for (const auto& [path, shown] : {std::pair{"user_dir/a.csv", "a.csv in the current directory"},
                                    {"root/a.csv", "a.csv in the home directory"},
                                    {"tmp/x/a", "x/a in the directory for temporary files"},
                                    {"data/a", "data/a in the boot disk"}}) {
    EXPECT_EQ(Places().Shown(OnDisk(path)), shown);
  }
  EXPECT_EQ(Places().Shown(Touched("/data/a")), "/data/a");
  EXPECT_EQ(Places().Shown(Touched("/data/a", "worker-7")), "/data/a") << "who is not known";
}

TEST_F(FilePlacesTest, TheBootDiskIsTheReplicasOwn) {
  EXPECT_TRUE(Places().IsOnBootDisk(OnDisk("user_dir/a.csv")));
  EXPECT_FALSE(Places().IsOnBootDisk(Touched("/data/a")));
  EXPECT_FALSE(Places().IsOnBootDisk(Touched(std::string(kDisk) + "/a", "worker-0")));
}

TEST_F(FilePlacesTest, CachesBytecodeAndNamedFilesAreIncidental) {
  for (const TouchedFile& file :
       {OnDisk("root/.cache/x"), OnDisk("root/.keras/datasets/mnist.npz"), OnDisk("tmp/.torch/x"),
        OnDisk("user_dir/m.pyc"), OnDisk("user_dir/__pycache__/m"), Touched("/home/ann/.config/x"),
        Touched("/tmp/torchinductor_ann/x"), Touched("/somewhere/metric")}) {
    EXPECT_TRUE(Places().IsIncidental(file)) << file.path;
  }
  for (const TouchedFile& file : {OnDisk("user_dir/history.csv"), OnDisk("root/model.bin"),
                                  OnDisk("root/cache/x"), Touched("/somewhere/metric.old"),
                                  Touched("/home/ann/data.csv"), OnDisk("user_dir/.cache/x")}) {
    EXPECT_FALSE(Places().IsIncidental(file)) << file.path;
  }
}

TEST_F(FilePlacesTest, TheProgramExistsOnTheServiceToo) {
  for (const char* path :
       {"/usr/share/zoneinfo/UTC", "/etc/hosts", "/lib64/ld.so", "/proc/cpuinfo",
        "/home/ann/venv/lib/python3.11/json/__init__.py", "/home/ann/venv/pyvenv.cfg",
        "/home/ann/.local/state/caip/scenarios/1/caches/x", "/home/ann/lib/libfoo.so.1"}) {
    EXPECT_TRUE(Places().IsOfProgram(Touched(path))) << path;
  }
  for (const char* path : {"/home/ann/project/trainer/words.txt", "/data/train.csv", "/usrlocal/x"})
    EXPECT_FALSE(Places().IsOfProgram(Touched(path))) << path;
}

TEST_F(FilePlacesTest, AMappedImageIsTheFolderOfItsCommand) {
  TemporaryDirectory folder;
  const Path image = std::filesystem::canonical(folder.path());
  ASSERT_TRUE(MakeDirectories(image / "packages").ok());
  ASSERT_TRUE(WriteFile(image / "task.py", "").ok());
  ASSERT_TRUE(WriteFile(image / "words.txt", "").ok());
  EXPECT_FALSE(Places().IsOfProgram(Touched((image / "words.txt").string())));
  session_.trainer.job.images["gcr.io/p/t:v1"] = {"python3", (image / "task.py").string()};
  EXPECT_TRUE(Places().IsOfProgram(Touched((image / "words.txt").string())));
  session_.trainer.job.images["gcr.io/p/t:v1"] = {
      "env", "PYTHONPATH=/nowhere:" + (image / "packages").string(), "python3", "-m", "trainer"};
  EXPECT_TRUE(Places().IsOfProgram(Touched((image / "packages" / "m.py").string())));
  EXPECT_FALSE(Places().IsOfProgram(Touched((image / "words.txt").string())));
}

TEST_F(FilePlacesTest, AnInterpreterOfAnEnvironmentIsTheProgram) {
  TemporaryDirectory folder;
  const Path root = std::filesystem::canonical(folder.path());
  ASSERT_TRUE(MakeDirectories(root / "conda" / "bin").ok());
  ASSERT_TRUE(MakeDirectories(root / "venv" / "bin").ok());
  ASSERT_TRUE(WriteFile(root / "conda" / "bin" / "python3", "").ok());
  std::filesystem::create_symlink(root / "conda" / "bin" / "python3",
                                  root / "venv" / "bin" / "python");
  run_.launched.front().environment.emplace_back("VIRTUAL_ENV", (root / "venv").string());
  EXPECT_TRUE(Places().IsOfProgram(Touched((root / "conda" / "share" / "x").string())));
  EXPECT_FALSE(Places().IsOfProgram(Touched((root / "share" / "x").string())));
}

TEST_F(FilePlacesTest, AFileBelongsToTheNarrowestPlace) {
  for (const auto& [path, owner] :
       {std::pair{"/home/ann/project/trainer/words.txt", "the source tree"},
        {"/home/ann/project/words.txt", "the current directory of this command"},
        {"/home/ann/words.txt", "your home"},
        {"/data/words.txt", "this machine"}}) {
    EXPECT_EQ(Places().OwnerOf(path), owner);
  }
  session_.trainer.source.reset();
  EXPECT_EQ(Places().OwnerOf("/home/ann/project/trainer/words.txt"),
            "the current directory of this command");
}

}  // namespace
}  // namespace caip::harness
