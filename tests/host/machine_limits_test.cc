#include "host/machine/machine_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::HasSubstr;

// The tests run at the same time, each in a process of its own, as emulators do.
std::string Groups() { return "caip-test-of-limits-" + std::to_string(::getpid()); }

TEST(MachineLimits, AreRefusedWhereThereAreNoControlGroups) {
  const TemporaryDirectory nothing;
  const auto limits = MachineLimits::Open(Groups(), {nothing.path(), "/proc/self/cgroup"});
  ASSERT_FALSE(limits.ok());
  EXPECT_THAT(limits.error().message, HasSubstr(nothing.path().string()));
}

// A container may not see the group that it is in. Plain directories take no limits.
TEST(MachineLimits, AreBelowTheTopWhereTheOwnGroupIsNotSeen) {
  const TemporaryDirectory directory;
  const Path own = directory.path() / "own";
  ASSERT_TRUE(WriteFile(own, "5:cpu,cpuacct:/user\n4:memory:/elsewhere\n0::/\n").ok());
  for (const char* group : {"cpu/user", "memory"}) {
    ASSERT_TRUE(MakeDirectories(directory.path() / group).ok());
  }
  const auto limits = MachineLimits::Open(Groups(), {directory.path(), own});
  ASSERT_FALSE(limits.ok());
  EXPECT_THAT(
      limits.error().message,
      HasSubstr((directory.path() / "memory" / Groups() / "0/memory.limit_in_bytes").string()));
}

/// Replicas with the limits of this host, if it has any.
class LimitedMachines : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = MachineLimits::Open(Groups());
    if (!opened.ok()) GTEST_SKIP() << "no limits here: " << opened.error().message;
    limits_ = *std::move(opened);
    world_ = std::make_unique<LaunchWorld>(
        ProcessLauncherOptions{.state_directory = {}, .limits = limits_});
  }
  engine::ReplicaExit Run(const std::string& program) {
    engine::ReplicaLaunch launch;
    launch.key = AKey();
    launch.program = run::LocalCommand{{"python3", "-c", program}};
    launch.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    launch.working_directory = "user_dir";
    launch.machine.vcpus = 2;
    launch.machine.memory_bytes = 128 << 20;
    return world_->Run(std::move(launch));
  }
  std::shared_ptr<MachineLimits> limits_;
  std::unique_ptr<LaunchWorld> world_;
};

TEST_F(LimitedMachines, EndWhenTheirMemoryRunsOut) {
  if (limits_->missing() == "memory") GTEST_SKIP() << "memory cannot be limited here";
  EXPECT_EQ(Run("bytearray(32 << 20)").exit_code, 0);
  const auto exit = Run("print('begins', flush=True)\nbytearray(512 << 20)\nprint('goes on')");
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.out_of_memory);
  EXPECT_THAT(world_->sink.Messages(), ::testing::Contains(HasSubstr("memory ran out")));
}

TEST_F(LimitedMachines, AreInGroupsOfTheirOwnThatGoWithThem) {
  EXPECT_EQ(Run("import re, subprocess\n"
                "own = open('/proc/self/cgroup').read()\n"
                "assert re.search('/caip-test-of-limits-[0-9]+/1', own), own\n"
                "child = subprocess.run(['cat', '/proc/self/cgroup'], capture_output=True)\n"
                "assert child.stdout.decode() == own")
                .exit_code,
            0)
      << ::testing::PrintToString(world_->sink.Messages());
  EXPECT_EQ(Run("import re\n"
                "own = open('/proc/self/cgroup').read()\n"
                "assert re.search('/caip-test-of-limits-[0-9]+/2', own), own")
                .exit_code,
            0);
  EXPECT_THAT(*ReadFile("/proc/self/cgroup"), ::testing::Not(HasSubstr(Groups())));
}

TEST_F(LimitedMachines, HaveTheCpusOfTheirType) {
  if (limits_->missing() == "CPUs") GTEST_SKIP() << "CPUs cannot be limited here";
  engine::ReplicaMachine machine;
  machine.vcpus = 3;
  const auto files = limits_->Make(77, machine);
  ASSERT_TRUE(files.ok()) << files.error().message;
  std::string quota;
  for (const std::string& processes : *files) {
    for (const char* name : {"cpu.cfs_quota_us", "cpu.max"}) {
      const auto text = ReadFile(Path(processes).parent_path() / name);
      if (text.ok()) quota = *text;
    }
  }
  EXPECT_THAT(quota, ::testing::StartsWith("300000"));
  limits_->Remove(77);
  EXPECT_FALSE(std::filesystem::exists(files->front()));
}

}  // namespace
}  // namespace caip::host
