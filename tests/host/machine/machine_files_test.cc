// Machines with a file system of their own.

#include "host/machine/machine_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>

#include "host/machine/boot_disks.h"
#include "host/machine/machines.h"
#include "tests/host/machine/machine_files_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(MachineFilesTest, TakesWhatIsWrittenAwayFromTheHost) {
  EXPECT_THAT(Output(OnMachine("echo new > /etc/caip-test-file; mkdir -p /opt/caip-test\n"
                               "cat /etc/caip-test-file; rm /etc/hostname; ls /opt | grep caip")),
              ElementsAre("new", "caip-test"));
  EXPECT_NE(::access("/etc/caip-test-file", F_OK), 0);
  EXPECT_NE(::access("/opt/caip-test", F_OK), 0);
  EXPECT_EQ(::access("/etc/hostname", F_OK), 0);
  EXPECT_EQ(*ReadFile(world_.launcher->OnHost(AKey(), "/etc/caip-test-file")), "new\n");
}

// A user without rights over the host cannot change the system's files, not even on a machine.
TEST_F(MachineFilesTest, ChangesFilesOfTheHostForItselfOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_THAT(Output(OnMachine("echo more >> /etc/passwd; tail -n1 /etc/passwd")),
              ElementsAre("more"));
  EXPECT_THAT(*ReadFile("/etc/passwd"), ::testing::Not(HasSubstr("\nmore\n")));
}

TEST_F(MachineFilesTest, HasTheDirectoriesOfANewMachine) {
  EXPECT_THAT(Output(OnMachine("pwd; ls -A /tmp /root; stat -c %a /tmp; echo x > /tmp/x\n"
                               "echo y > /root/y; ls /tmp /root")),
              ElementsAre("/user_dir", "/root:", "/tmp:", "1777", "/root:", "y", "/tmp:", "x"));
}

TEST_F(MachineFilesTest, OfANewBootIsNewAndOfAKeptOneIsNot) {
  EXPECT_THAT(Output(OnMachine("echo 1 > /tmp/a; echo 2 > /root/b; echo 3 > c; rm /etc/hostname")),
              IsEmpty());
  auto kept =
      OnMachine("cat /tmp/a /root/b c; ls /etc/hostname 2>&1 | grep -c 'No such'", AKey(0, 2));
  kept.fresh_disk = false;
  EXPECT_THAT(Output(std::move(kept)), ElementsAre("1", "2", "3", "1"));
  EXPECT_THAT(Output(OnMachine("ls -A /tmp /root .; ls /etc/hostname", AKey(0, 3))),
              ElementsAre(".:", "/root:", "/tmp:", "/etc/hostname"));
}

TEST_F(MachineFilesTest, HaveTheirOwnHostNameFile) {
  const auto of_host = ReadFile("/etc/hostname");
  EXPECT_THAT(Output(OnMachine("cat /etc/hostname; echo mine > /etc/hostname; cat /etc/hostname")),
              ElementsAre("host-0", "mine"));
  auto kept = OnMachine("cat /etc/hostname; stat -c %a /etc", AKey(0, 2));
  kept.fresh_disk = false;
  EXPECT_THAT(Output(std::move(kept)), ElementsAre("mine", "755"));
  const auto left = ReadFile("/etc/hostname");
  EXPECT_EQ(left.ok() ? *left : "", of_host.ok() ? *of_host : "");
}

// Else the end of a machine waits until the kernel has written the whole file system of the host.
TEST_F(MachineFilesTest, AreNotWrittenToTheDiskAtTheEnd) {
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  if (::strverscmp(system.release, "5.10") < 0) GTEST_SKIP() << "Linux " << system.release;
  EXPECT_THAT(Output(OnMachine("grep ^overlay /proc/mounts | grep -vc volatile")),
              ElementsAre("0"));
}

TEST_F(MachineFilesTest, AreNotThoseOfAnotherReplica) {
  world_.Launch(
      OnMachine("echo mine > /tmp/shared; echo mine > /var/shared; echo ready; sleep 600"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  world_.Run(
      OnMachine("cat /tmp/shared /var/shared 2>&1 | grep -c 'No such'; ls /dev/shm", AKey(1)));
  EXPECT_EQ(world_.sink.Messages().back(), "2");
  world_.launcher->Kill(AKey());
  world_.AwaitExits(2);
}

// The first replica has started when the other one writes, and reads its file then.
TEST_F(MachineFilesTest, HaveTheirOwnResolverFile) {
  const TemporaryDirectory shared("caip-shared-");
  ASSERT_EQ(::mkfifo((shared.path() / "written").c_str(), 0600), 0);
  const auto launch = [&](const std::string& script, int worker) {
    auto machine = OnMachine(script, AKey(worker));
    machine.volumes = {{shared.path().string(), "/srv/caip-shared"}};
    return machine;
  };
  world_.Launch(
      launch("echo ready; cat /srv/caip-shared/written; grep -c mine /etc/resolv.conf", 0));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  world_.Launch(
      launch("echo '# mine' >> /etc/resolv.conf; grep -c mine /etc/resolv.conf\n"
             "echo written > /srv/caip-shared/written",
             1));
  world_.AwaitExits(2);
  EXPECT_THAT(world_.sink.Messages("worker-replica-0"), ElementsAre("ready", "written", "0"));
  EXPECT_THAT(world_.sink.Messages("worker-replica-1"), ElementsAre("1"));
}

TEST_F(MachineFilesTest, HaveTheSettingsOfTheHostReadOnly) {
  EXPECT_EQ(Output(OnMachine(kOpenSettings)), ResultsOfOpeningSettings());
}

TEST_F(MachineFilesTest, LetTheHostWatchTheMetricFile) {
  auto launch = OnMachine("echo '{}' > /var/hypertune/output.metric");
  launch.metrics = engine::MetricSource{"accuracy", "/var/hypertune/output.metric", ""};
  world_.Run(std::move(launch));
  const std::string file = world_.launcher->OnHost(AKey(), "/var/hypertune/output.metric");
  EXPECT_EQ(*ReadFile(file), "{}\n");
  EXPECT_THAT(file, HasSubstr("/live/"));
}

TEST_F(MachineFilesTest, AreDeletedWithTheRun) {
  world_.Run(OnMachine("mkdir /tmp/d; touch /tmp/d/f; chmod 0 /tmp/d; chmod 0 /etc/passwd"));
  ASSERT_FALSE(std::filesystem::is_empty(State() / "disks" / "my-project"));
  world_.launcher->Discard(AKey().run);
  auto later = OnMachine("exit 0");
  later.key.run.project = "another";
  world_.Run(std::move(later));
  world_.launcher.reset();  // returns when the trash is empty
  EXPECT_FALSE(std::filesystem::exists(State() / "disks" / "my-project" / AKey().run.job_id));
  EXPECT_TRUE(std::filesystem::is_empty(State() / "disks" / ".trash"));
}

TEST_F(MachineFilesTest, AreKeptOnRequest) {
  TemporaryDirectory state;
  const Path kept = state.path() / "kept-disks" / "my-project" / AKey().run.job_id /
                    run::Name(AKey().replica) / "changes";
  BootDisks disks(state.path(), /*keep=*/true);
  for (const char* text : {"first", "second"}) {
    const Path changes = disks.Of(AKey()) / "changes";
    ASSERT_TRUE(disks.Make(AKey(), true).ok());
    ASSERT_TRUE(MakeDirectories(changes).ok());
    ASSERT_TRUE(WriteFile(changes / "file", text).ok());
    disks.Discard(AKey().run);
    EXPECT_EQ(*ReadFile(kept / "file"), text);
    EXPECT_FALSE(disks.AnyLeft());
  }
}

TEST_F(MachineFilesTest, AreTriedOnceForAStateDirectory) {
  const Path note = State() / "machines.json";
  EXPECT_EQ(TryMachineOnce(LauncherProgram(), State()), std::nullopt);
  ASSERT_TRUE(ReadFile(note).ok());
  EXPECT_EQ(TryMachineOnce("/nowhere/caip-launcher", State()).has_value(), true);
  ASSERT_TRUE(std::filesystem::remove(note));
  EXPECT_NE(TryMachineOnce("/nowhere/caip-launcher", State()), std::nullopt);
  EXPECT_FALSE(ReadFile(note).ok()) << "a failure is not noted";
  EXPECT_TRUE(std::filesystem::is_empty(State() / "disks"));
}

}  // namespace
}  // namespace caip::host
