// The files of the host that machines show: what a launch names, volumes, buckets and the home.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/host/file_replacer.h"
#include "tests/host/machine/machine_files_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;

// A mapped command with its siblings, and what variables name: in /tmp, which is hidden.
TEST_F(MachineFilesTest, ShowWhatTheLaunchNamesAndNothingElse) {
  const TemporaryDirectory project("caip-project-");
  const TemporaryDirectory other("caip-other-");
  ASSERT_TRUE(WriteFile(project.path() / "task.sh", ". \"$(dirname \"$0\")/lib.sh\"\n").ok());
  ASSERT_TRUE(WriteFile(project.path() / "lib.sh",
                        "echo sibling; cat \"$DATA\"; echo x 2>/dev/null > \"$0.new\" || echo "
                        "refused; ls \"$(dirname \"$DATA\")\"\n")
                  .ok());
  ASSERT_TRUE(WriteFile(other.path() / "data", "named\n").ok());
  ASSERT_TRUE(WriteFile(other.path() / "secret", "not named\n").ok());
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{{"/bin/sh", (project.path() / "task.sh").string()}};
  launch.environment.emplace_back("DATA", (other.path() / "data").string());
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("sibling", "named", "refused", "data"));
  EXPECT_NE(::access((project.path() / "task.sh.new").c_str(), F_OK), 0);
}

// Colons also separate the paths of a variable.
TEST_F(MachineFilesTest, ShowPathsWithColons) {
  const TemporaryDirectory project("caip-project-");
  const Path directory = project.path() / "co:lon:";
  const Path other = project.path() / "other:";
  for (const Path& place : {directory, other}) ASSERT_TRUE(MakeDirectories(place).ok());
  ASSERT_TRUE(WriteFile(directory / "task.sh", "cat \"${PLACES#*::}/data\" \"${1#*=}\"\n").ok());
  ASSERT_TRUE(WriteFile(other / "data", "of a variable\n").ok());
  ASSERT_TRUE(WriteFile(project.path() / "a:b", "of an argument\n").ok());
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"/bin/sh", (directory / "task.sh").string(), "--data=" + (project.path() / "a:b").string()}};
  launch.environment.emplace_back("PLACES", "/usr/bin:/caip-absent::" + other.string());
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("of a variable", "of an argument"));
}

TEST_F(MachineFilesTest, HaveVolumesThatOutliveThem) {
  const TemporaryDirectory copy("caip-volume-");
  ASSERT_TRUE(WriteFile(copy.path() / "before", "before\n").ok());
  const auto launch = [&](const std::string& script, int boot) {
    auto machine = OnMachine(script, AKey(0, boot));
    machine.volumes = {{copy.path().string(), "/srv/caip-absent/run"}};
    machine.working_directory = "/srv/caip-absent/run";
    return machine;
  };
  EXPECT_THAT(Output(launch("pwd; cat before; echo 1 > mine; echo 2 > ../lost", 1)),
              ElementsAre("/srv/caip-absent/run", "before"));
  EXPECT_THAT(Output(launch("cat mine; ls ..", 2)), ElementsAre("1", "run"));
  EXPECT_EQ(*ReadFile(copy.path() / "mine"), "1\n");
  EXPECT_NE(::access("/srv/caip-absent", F_OK), 0);
}

TEST_F(MachineFilesTest, HaveVolumesOfTheirOwnAndReadOnlyOnes) {
  using Use = engine::Volume::Use;
  const TemporaryDirectory own("caip-own-");
  const TemporaryDirectory shown("caip-shown-");
  ASSERT_TRUE(WriteFile(own.path() / "file", "host\n").ok());
  const auto launch = [&](const std::string& script, int boot) {
    auto machine = OnMachine(script, AKey(0, boot));
    const std::string place = own.path().string();
    machine.volumes = {{shown.path().string(), place + "/inner", Use::kReadOnly},
                       {place, place, Use::kCopyOnWrite}};
    machine.working_directory = place;
    return machine;
  };
  EXPECT_THAT(
      Output(launch("cat file; echo mine > file; echo x 2>&1 > inner/x | grep -c 'Read-only'", 1)),
      ElementsAre("host", "1"));
  auto kept = launch("cat file", 2);
  kept.fresh_disk = false;
  EXPECT_THAT(Output(std::move(kept)), ElementsAre("mine"));
  EXPECT_THAT(Output(launch("cat file", 3)), ElementsAre("host"));
  EXPECT_EQ(*ReadFile(own.path() / "file"), "host\n");
}

// The home directory of a user who runs a command, without the state directory in it.
TEST_F(MachineFilesTest, SeeTheHomeOfTheirUserOnRequest) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const Path home = "/root/.caip-test";
  ASSERT_TRUE(MakeDirectories(home / "state/keys").ok());
  ASSERT_TRUE(WriteFile(home / "file", "host\n").ok());
  ASSERT_TRUE(WriteFile(home / "state/keys/token", "secret\n").ok());
  {
    LaunchWorld world(ProcessLauncherOptions{.state_directory = home / "state", .own_roots = true});
    auto launch = OnMachine(
        "cat /root/.caip-test/file; ls -A /root/.caip-test/state\n"
        "echo mine > /root/.caip-test/file");
    launch.sees_home = true;
    EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
    EXPECT_THAT(world.sink.Messages(), ElementsAre("host"));
  }
  EXPECT_EQ(*ReadFile(home / "file"), "host\n");
  RemoveTree(home);
}

// A package that another job builds, or a program that the user edits. All names lead to one file.
TEST_F(MachineFilesTest, StartWhileWhatTheyNameIsReplaced) {
  constexpr int kNames = 32;
  constexpr int kStarts = 20;
  const TemporaryDirectory project("caip-project-");
  auto launch = OnMachine("cat \"$NAME_0\"; echo x 2>/dev/null > \"$NAME_0\" || echo refused");
  const FileReplacer replacer(project.path() / "file", "a text\n");
  for (int i = 0; i < kNames; ++i) {
    const std::string name = "name-" + std::to_string(i);
    std::filesystem::create_symlink("file", project.path() / name);
    launch.environment.emplace_back("NAME_" + std::to_string(i), project.path() / name);
  }
  for (launch.key.boot = 1; launch.key.boot <= kStarts; ++launch.key.boot) {
    EXPECT_THAT(Output(launch), ElementsAre("a text", "refused"));
  }
}

// A trial has a metric file and the packages of its job.
TEST_F(MachineFilesTest, HaveTheFilesOfTheWorkingDirectory) {
  const TemporaryDirectory packages("caip-packages-");
  const Path package = packages.path() / "trainer-0.1.tar.gz";
  ASSERT_TRUE(WriteFile(package, "an sdist").ok());
  auto launch = OnMachine("cat trainer-0.1.tar.gz");
  launch.working_files = {package.string()};
  launch.metrics = engine::MetricSource{"accuracy", "/tmp/hypertune/output.metric", ""};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("an sdist"));
}

TEST_F(MachineFilesTest, HaveTheBucketsThatTheirArgumentsName) {
  ASSERT_TRUE(MakeDirectories(State() / "buckets" / "bkt").ok());
  const Path directory = State() / "buckets" / "bkt" / "job" / "out";
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"/bin/sh", "-c", "mkdir -p \"$0\" && echo w > \"$0/m\"", directory.string()}};
  world_.Run(std::move(launch));
  EXPECT_EQ(*ReadFile(directory / "m"), "w\n");
}

}  // namespace
}  // namespace caip::host
