#include "host/watch/disk_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "host/machine/machines.h"
#include "host/watch/disk_space.h"
#include "run/limits.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = FileOperation::Kind;

constexpr int64_t kMebibyte = 1 << 20;

class DiskLimitsTest : public ::testing::Test {
 protected:
  /// What of a write the limits let through; -1: none.
  int64_t Write(int64_t bytes) {
    FileOperation operation{Kind::kWrite, "/f"};
    operation.count = bytes;
    const Verdict verdict = limits_.Before(AKey(), operation);
    if (verdict.kind == Verdict::Kind::kFail) {
      EXPECT_EQ(verdict.error, ENOSPC);
      return -1;
    }
    return verdict.kind == Verdict::Kind::kPart ? verdict.bytes : bytes;
  }
  TemporaryDirectory disk_;
  DiskLimits limits_;
};

TEST_F(DiskLimitsTest, RefuseWhatDoesNotFit) {
  limits_.Begin(AKey(), {disk_.path(), kMebibyte});
  EXPECT_EQ(Write(1000), 1000);
  EXPECT_FALSE(limits_.WasFull(AKey()));
  ASSERT_TRUE(WriteFile(disk_.path() / "f", std::string(kMebibyte - 8192, 'x')).ok());
  EXPECT_EQ(Write(2 * kMebibyte), 8192) << "a part fits";
  ASSERT_TRUE(WriteFile(disk_.path() / "g", std::string(8192, 'x')).ok());
  EXPECT_EQ(Write(1), -1);
  EXPECT_TRUE(limits_.WasFull(AKey()));
  EXPECT_FALSE(limits_.WasFull(AKey(1)));
}

TEST_F(DiskLimitsTest, GiveWholeBlocks) {
  limits_.Begin(AKey(), {disk_.path(), 10'000});
  EXPECT_EQ(Write(kMebibyte), 8192);
}

TEST_F(DiskLimitsTest, CountWhatIsThereAndNotWhatWasWritten) {
  limits_.Begin(AKey(), {disk_.path(), kMebibyte});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Write(kMebibyte / 2), kMebibyte / 2) << "overwritten";
}

TEST_F(DiskLimitsTest, FindTheSpaceOfDeletedFiles) {
  limits_.Begin(AKey(), {disk_.path(), kMebibyte});
  ASSERT_TRUE(WriteFile(disk_.path() / "f", std::string(kMebibyte, 'x')).ok());
  EXPECT_EQ(Write(kMebibyte / 2), -1);
  std::filesystem::remove(disk_.path() / "f");
  EXPECT_EQ(Write(kMebibyte / 2), -1) << "not known yet";
  limits_.After(AKey(), {Kind::kDelete, "/f"}, 0);
  EXPECT_EQ(Write(kMebibyte / 2), kMebibyte / 2);
}

TEST_F(DiskLimitsTest, CountAFileWithTwoNamesOnce) {
  ASSERT_TRUE(WriteFile(disk_.path() / "f", std::string(kMebibyte, 'x')).ok());
  const uint64_t once = SpaceBelow(disk_.path());
  EXPECT_GE(once, static_cast<uint64_t>(kMebibyte));
  std::filesystem::create_hard_link(disk_.path() / "f", disk_.path() / "g");
  EXPECT_EQ(SpaceBelow(disk_.path()), once);
}

TEST_F(DiskLimitsTest, LeaveOtherOperationsAndUnknownReplicasAlone) {
  limits_.Begin(AKey(), {disk_.path(), 1});
  EXPECT_EQ(limits_.Before(AKey(), {Kind::kCreate, "/f"}).kind, Verdict::Kind::kGoOn);
  limits_.Gone(AKey());
  EXPECT_EQ(Write(kMebibyte), kMebibyte);
}

/// The size of the disk counts only for jobs that name one.
TEST(DiskSizes, AreOfJobsThatNameThem) {
  if (InterpositionOf().kind != Interposition::Kind::kSeccomp) {
    GTEST_SKIP() << "no seccomp notification: " << InterpositionOf().reason;
  }
  LaunchWorld world(ProcessLauncherOptions{
      .state_directory = {}, .disk_bytes_max = 4 * kMebibyte, .only_named_disk_sizes = true});
  const auto fills = [&](int gigabytes) {
    engine::ReplicaLaunch launch;
    launch.key = AKey();
    launch.key.boot = gigabytes;
    launch.program = run::LocalCommand{{"python3", "-c", "open('f', 'wb').write(bytes(8 << 20))"}};
    launch.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    launch.working_directory = "user_dir";
    launch.fresh_disk = true;
    launch.machine.boot_disk_gb = gigabytes;
    return world.Run(std::move(launch)).exit_code != 0;
  };
  EXPECT_FALSE(fills(run::kBootDiskGbDefault));
  EXPECT_TRUE(fills(200));
}

/// Replicas whose disks have four mebibytes: processes, and machines.
class LimitedReplicas : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (InterpositionOf().kind != Interposition::Kind::kSeccomp) {
      GTEST_SKIP() << "no seccomp notification: " << InterpositionOf().reason;
    }
    const auto why_not =
        GetParam() ? TryMachine(LauncherProgram(), world_.state.path()) : std::nullopt;
    if (why_not) GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
  }
  int Python(const std::string& program) {
    engine::ReplicaLaunch launch;
    launch.key = AKey();
    launch.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    launch.working_directory = "user_dir";
    launch.machine.boot_disk_gb = 100;
    if (GetParam()) {
      launch.isolation = engine::ReplicaIsolation{network_, "10.128.0.2", "127.0.0.1 localhost\n"};
    }
    launch.program = run::LocalCommand{{"python3", "-c", program}};
    return world_.Run(std::move(launch)).exit_code;
  }
  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>();
  LaunchWorld world_{{}, Interposition::Kind::kSeccomp, GetParam(), 4 * kMebibyte};
};

TEST_P(LimitedReplicas, GetNoSpaceOnAFullDisk) {
  const int exit_code = Python(
      "import os\n"
      "def save(name, mebibytes):\n"
      "  try:\n"
      "    with open(name, 'wb') as file: file.write(b'x' * (mebibytes << 20))\n"
      "    print('saved')\n"
      "  except OSError as error: print(error.strerror, os.path.getsize(name) > 3 << 20)\n"
      "save('a', 3); save('b', 1 << 4); os.remove('a'); os.remove('b'); save('c', 3)\n"
      "for _ in range(5): save('c', 3)\n");
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("saved", "No space left on device False", "saved",
                                                  "saved", "saved", "saved", "saved", "saved",
                                                  HasSubstr("boot disk of this replica was full")));
}

TEST_P(LimitedReplicas, HaveDeletedFilesOnTheirDisksUntilTheyCloseThem) {
  const int exit_code = Python(
      "import os, tempfile\n"
      "def size(file): return os.fstat(file.fileno()).st_size >> 20\n"
      "def fill(file):\n"
      "  try:\n"
      "    while size(file) < 16: file.write(bytes(1 << 20))\n"
      "    print('no limit')\n"
      "  except OSError as error: print(error.strerror, size(file))\n"
      "def save(name):\n"
      "  with open(name, 'wb') as file: file.write(bytes(3 << 20))\n"
      "  print('saved')\n"
      "with tempfile.TemporaryFile(dir='.', buffering=0) as file: fill(file)\n"
      "save('a')\n"
      "with open('a', 'rb') as reader, open('b', 'wb', buffering=0) as file:\n"
      "  os.remove('a')\n"
      "  fill(file)\n"
      "os.remove('b')\n"
      "save('c')\n");
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("No space left on device 3", "saved", "No space left on device 0",
                          "saved", HasSubstr("boot disk of this replica was full")));
}

TEST_P(LimitedReplicas, CountNoFilesInMemory) {
  const int exit_code = Python(
      "import os\n"
      "file = open(os.memfd_create('large'), 'wb', buffering=0)\n"
      "file.write(bytes(16 << 20))\n"
      "for name in 'ab':\n"
      "  open(name, 'wb').write(bytes(3 << 20))\n"
      "  os.remove(name)\n"
      "print(os.fstat(file.fileno()).st_size >> 20)\n");
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("16"));
}

INSTANTIATE_TEST_SUITE_P(Held, LimitedReplicas, ::testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "OnMachine" : "AsProcess");
});

}  // namespace
}  // namespace caip::host
