// Machines with a file system of their own.

#include "host/machine/machine_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "host/machine/boot_disks.h"
#include "host/machine/device_mounts.h"
#include "host/machine/host_tree.h"
#include "host/machine/machines.h"
#include "host/store/state_directory.h"
#include "tests/host/file_replacer.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MachineFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram(), State())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }

  engine::ReplicaLaunch OnMachine(const std::string& script, engine::ReplicaKey key = AKey()) {
    auto launch = AShell(script, std::move(key));
    launch.machine.host_name = "host-" + std::to_string(launch.key.replica.index);
    launch.user_directories = {"root", "tmp", "var/hypertune"};
    launch.isolation = engine::ReplicaIsolation{
        network_, "10.128.0." + std::to_string(2 + launch.key.replica.index),
        "127.0.0.1 localhost\n"};
    return launch;
  }
  std::vector<std::string> Output(engine::ReplicaLaunch launch) {
    const size_t before = world_.sink.Messages().size();
    const auto exit = world_.Run(std::move(launch));
    EXPECT_EQ(exit.start_error, "");
    auto messages = world_.sink.Messages();
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
  Path State() const { return world_.state.path(); }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>();
  LaunchWorld world_{{}, Interposition::Kind::kSeccomp, /*own_roots=*/true};
};

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

TEST_F(MachineFilesTest, HaveDevices) {
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"python3", "-c",
       "import os\n"
       "open('/dev/null', 'w').write('x'); print(len(open('/dev/urandom', 'rb').read(8)))\n"
       "a, b = os.openpty(); os.write(a, b'hello\\n'); print(os.read(b, 6))\n"
       "open('/dev/shm/x', 'w').write('y'); print(os.path.realpath('/dev/fd') != '/dev/fd')\n"
       "print(sorted(os.listdir('/sys/class/net')))\n"}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("8", "b'hello\\n'", "True", "['eth0', 'lo']"));
}

TEST_F(MachineFilesTest, HaveTheDevicesThatAreLentToThem) {
  auto launch = OnMachine("ls /dev | grep nvidia; echo x > /dev/nvidia3");
  launch.device_nodes = {{"/dev/null", "/dev/nvidiactl"}, {"/dev/null", "/dev/nvidia3"}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("nvidia3", "nvidiactl"));
  EXPECT_THAT(Output(OnMachine("ls /dev | grep nvidia", AKey(1))), IsEmpty());
}

TEST_F(MachineFilesTest, DoNotStartIfADeviceHasVanished) {
  auto launch = OnMachine("true");
  launch.device_nodes = {{"/dev/caip-no-such-device", "/dev/nvidia0"}};
  EXPECT_THAT(world_.Run(std::move(launch)).start_error, HasSubstr("/dev/nvidia0"));
}

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

// A script imports what is elsewhere in its repository. The state directory may be there, too.
TEST_F(MachineFilesTest, ShowTheRepositoryOfAScriptWithoutTheStateDirectory) {
  const TemporaryDirectory directory("caip-repository-");
  const Path& repository = directory.path();
  const Path script = repository / "jobs/one/task.sh";
  const Path state = repository / ".caip";
  for (const Path& file : {repository / "lib.sh", state / "keys/token", state / "python/hook"}) {
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, "echo from lib\n").ok());
  }
  ASSERT_TRUE(MakeDirectories(repository / ".git").ok());
  ASSERT_TRUE(MakeDirectories(script.parent_path()).ok());
  ASSERT_TRUE(WriteFile(script,
                        "cd \"$(dirname \"$0\")/../..\"; . ./lib.sh\n"
                        "find \"$STATE\" -type f; touch x 2>/dev/null || echo refused\n"
                        "cat \"$LINK/lib.sh\"; find \"$LINK/.caip\" -type f\n")
                  .ok());
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{{"/bin/sh", script.string()}};
  const std::string hook = (state / "python/hook").string();
  launch.environment.emplace_back("STATE", state.string());
  launch.environment.emplace_back("HOOK", hook);
  launch.environment.emplace_back("KEY", (state / "keys/token").string());
  const TemporaryDirectory links("caip-links-");
  const Path link = links.path() / "link";
  std::filesystem::create_directory_symlink(repository, link);
  launch.environment.emplace_back("LINK", link.string());
  LaunchWorld world(ProcessLauncherOptions{.state_directory = state, .own_roots = true});
  EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
  EXPECT_THAT(world.sink.Messages(), ElementsAre("from lib", hook, "refused", "echo from lib"));
}

// The state directory of a run of a scenario, and the user's, which machines of the run do not see.
struct StatesOfRun {
  explicit StatesOfRun(const Path& root) : outer(root / "state") {
    for (const Path& file : {outer / "keys/token", outer / "jobs.db", outer / "runtimes/python3",
                             play / "run-1/keys/token", play / "run-2/keys/token", play / "run-2/a",
                             play / "caches/environments/b"}) {
      EXPECT_TRUE(MakeDirectories(file.parent_path()).ok());
      EXPECT_TRUE(WriteFile(file, "").ok());
    }
    for (const Path& target : {outer / "keys", outer / "keys/token", outer / "scenarios", play,
                               play / "run-2", play / "run-2/a", outer, root, root / "state/..",
                               outer / "runtimes", play / "caches/environments"}) {
      const Path link = links.path() / ("link-" + std::to_string(link_count++));
      std::filesystem::create_symlink(target, link);
    }
    std::filesystem::create_directory_symlink("/", links.path() / "root");
  }

  // A trainer that asks for all that is there, and names what it wants to see. Links that are in a
  // hidden directory lead there, too.
  void NameFilesIn(engine::ReplicaLaunch& launch) const {
    launch.program =
        run::LocalCommand{{"/bin/sh", "-c",
                           "find \"$OUTER\" -type f | sed \"s|$OUTER/||\" | sort\n"
                           "find $LINKS -type f 2> /dev/null | sed 's|.*/link-[0-9]*/||' | sort\n"
                           "test -d \"$ROOT/etc\" && echo root\n"
                           "find \"$ROOT$OUTER\" -type f 2> /dev/null\n"
                           "test -f \"$ENVIRONMENT\" && echo environment"}};
    launch.environment.emplace_back("OUTER", outer.string());
    launch.environment.emplace_back("ROOT", (links.path() / "root").string());
    std::string names;
    for (int i = 0; i < link_count; ++i) {
      const std::string link = (links.path() / ("link-" + std::to_string(i))).string();
      launch.environment.emplace_back("LINK_" + std::to_string(i), link);
      names += " " + link;
    }
    launch.environment.emplace_back("LINKS", names);
    int number = 0;
    for (const Path& path : {outer / "keys", outer / "keys/token", outer / "runtimes/python3",
                             outer / "scenarios", play, play / "run-1", play / "run-1/keys/token",
                             play / "run-2", play / "run-2/keys/token", play / "run-2/a",
                             play / "caches", play / "caches/environments/b"}) {
      launch.environment.emplace_back("FILE_" + std::to_string(++number), path.string());
    }
  }

  Path outer;
  Path play = outer / "scenarios/play-1";
  TemporaryDirectory links{"caip-links-"};
  int link_count = 0;
};

constexpr char kCacheOfRuns[] = "scenarios/play-1/caches/environments/b";

TEST_F(MachineFilesTest, HideTheStateDirectoryAroundThatOfARun) {
  // Machines see one of these directories and not the other one, which is in /tmp.
  const Path seen =
      std::filesystem::canonical(CAIP_BINARY_DIR) / ("machine-files-" + std::to_string(::getpid()));
  const TemporaryDirectory hidden("caip-states-");
  std::vector<Path> roots = {hidden.path()};
  if (::access(CAIP_BINARY_DIR, W_OK) == 0) roots.push_back(seen);
  for (const Path& root : roots) {
    const StatesOfRun states(root);
    for (const Path& state : {states.play / "run-1", hidden.path() / "in-memory"}) {
      SCOPED_TRACE(state);
      ASSERT_TRUE(MakeDirectories(state / "python").ok());
      ASSERT_TRUE(WriteFile(state / "python/hook", "").ok());
      const Path environments = state / "environments";  // the run shares a cache
      std::filesystem::remove(environments);
      std::filesystem::create_directory_symlink(states.play / "caches/environments", environments);
      auto launch = OnMachine("");
      states.NameFilesIn(launch);
      launch.environment.emplace_back("HOOK", (state / "python/hook").string());
      launch.environment.emplace_back("ENVIRONMENT", (environments / "b").string());
      LaunchWorld world(ProcessLauncherOptions{
          .state_directory = state, .outer_states = {states.outer}, .own_roots = true});
      EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
      std::vector<std::string> files = {"runtimes/python3", kCacheOfRuns};
      if (state != hidden.path() / "in-memory") {
        files.push_back("scenarios/play-1/run-1/environments/b");
        files.push_back("scenarios/play-1/run-1/python/hook");
      }
      // of the links to what runs share, of that to the root of the host, and of that of the run
      for (const char* line : {"b", "python3", "root", "environment"}) files.push_back(line);
      EXPECT_EQ(world.sink.Messages(), files);
    }
  }
  RemoveTree(seen);
}

// Directories of the host that machines of a job share, as exports of nfsMounts are.
TEST_F(MachineFilesTest, HideTheStateDirectoryInSharedVolumes) {
  const TemporaryDirectory root("caip-exports-");
  const Path state = root.path() / "deep/state";
  for (const Path& file :
       {root.path() / "file", state / "keys/token", state / "ca/ca.key", state / "python/hook",
        state / "scenarios/play-1/run-1/a", state / "buckets/bkt/object",
        state / "buckets" / kWorkOfStorage[0] / "part"}) {
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, "").ok());
  }
  std::filesystem::create_directory_symlink("deep", root.path() / "link");
  std::filesystem::create_directory_symlink("deep/state/keys", root.path() / "keys");
  auto launch = OnMachine(
      "cd /mnt/nfs; find . -path ./host -prune -o -type f -print | sort\n"
      "find \"./host$STATE\" -type f; test -d ./host/etc && echo host\n"
      "for directory in in/deep/state/keys state/keys keys; do\n"
      "  mkdir -p $directory && echo x > $directory/new\n"
      "done");
  const auto show = [&](const Path& directory, const char* name) {
    launch.volumes.push_back({directory.string(), std::string("/mnt/nfs/") + name});
  };
  show(root.path(), "in");
  show(root.path() / "link", "link");
  show(root.path() / "keys", "keys-by-link");
  show("/", "host");
  show(state, "state");
  show(state / "buckets/bkt", "bucket");
  for (const char* name : {"keys", "ca", "python", "scenarios", "buckets", "disks"}) {
    show(state / name, name);
  }
  launch.environment.emplace_back("STATE", state.string());
  LaunchWorld world(ProcessLauncherOptions{.state_directory = state, .own_roots = true});
  EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre("./bucket/object", "./buckets/bkt/object", "./in/file", "host"));
  EXPECT_FALSE(std::filesystem::exists(state / "keys/new"));
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

TEST_F(MachineFilesTest, LetTheHostWatchTheMetricFile) {
  auto launch = OnMachine("echo '{}' > /var/hypertune/output.metric");
  launch.metrics = engine::MetricSource{"accuracy", "/var/hypertune/output.metric", ""};
  world_.Run(std::move(launch));
  const std::string file = world_.launcher->OnHost(AKey(), "/var/hypertune/output.metric");
  EXPECT_EQ(*ReadFile(file), "{}\n");
  EXPECT_THAT(file, HasSubstr("/live/"));
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

TEST_F(MachineFilesTest, HaveTheBucketsAlsoIfAVolumeHasTheStateDirectoryInIt) {
  const Path directory = State() / "buckets" / "bkt" / "out";
  ASSERT_TRUE(MakeDirectories(directory).ok());
  ASSERT_TRUE(WriteFile(State() / "secret", "secret\n").ok());
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"/bin/sh", "-c", "echo w > \"$0/m\"; cat \"$0/../../../secret\"", directory.string()}};
  const std::string above = State().parent_path().string();
  launch.volumes = {{above, above, engine::Volume::Use::kCopyOnWrite}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre(HasSubstr("No such file")));
  EXPECT_EQ(*ReadFile(directory / "m"), "w\n");
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

TEST(SharedMounts, AreTheFileSystemsOfPeople) {
  const auto mounts = ParseMounts(
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "24 27 0:6 / /dev rw - devtmpfs devtmpfs rw\n"
      "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n"
      "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "28 27 8:1 / /home rw - ext4 /dev/sdb rw\n"
      "29 28 8:2 / /home/data rw - xfs /dev/sdc rw\n"
      "30 27 0:30 / /run rw - tmpfs tmpfs rw\n"
      "31 27 0:31 / /tmp rw - tmpfs tmpfs rw\n"
      "32 27 0:32 / /mnt/my\\040disk rw - nfs4 server:/x rw\n"
      "33 27 0:33 / /usr/local/nvidia ro - squashfs /dev/loop1 ro\n"
      "34 27 0:34 / /scratch rw - lustre server:/y rw\n"
      "35 27 0:35 / /mnt/bucket rw - fuse.gcsfuse bucket rw\n"
      "36 27 0:36 / /net rw - autofs systemd-1 rw\n"
      "37 27 0:37 / /mnt/huge rw - hugetlbfs hugetlbfs rw\n");
  EXPECT_THAT(SharedMounts(mounts),
              ElementsAre("/home", "/mnt/my disk", "/usr/local/nvidia", "/scratch", "/mnt/bucket"));
}

constexpr int kNoNamespace = 77;

// Whether a machine has /dev/NAME, or something below it.
bool Shows(const engine::ReplicaLaunch& launch, const std::string& name) {
  for (const launcher::MachineMount& mount : DeviceMounts(launch)) {
    if (mount.target == "/dev/" + name || mount.target.starts_with("/dev/" + name + "/")) {
      return true;
    }
  }
  return false;
}

// A mount namespace in which files stand for the devices of a host with GPUs.
bool EnterHostWithDevices() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (user != 0) {
    const auto write = [](const char* file, const std::string& text) {
      return WriteAll(Fd(::open(file, O_WRONLY | O_CLOEXEC)).get(), text);
    };
    const bool is_mapped = write("/proc/self/setgroups", "deny") &&
                           write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
                           write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
    if (!is_mapped) return false;
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("tmpfs", "/dev", "tmpfs", 0, nullptr) != 0) return false;
  for (const char* directory : {"/dev/dri", "/dev/infiniband", "/dev/vfio"}) {
    if (::mkdir(directory, 0755) != 0) return false;
  }
  for (const char* file : {"/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/accel0",
                           "/dev/dri/card0", "/dev/null"}) {
    if (!Fd(::open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0666)).valid()) return false;
  }
  return true;
}

// The first device that a machine has by mistake, or lacks; "" if there is none.
std::string WrongDevice() {
  engine::ReplicaLaunch launch;
  for (const char* name : {"dri", "kfd", "infiniband", "nvidia0", "nvidiactl", "accel0", "vfio"}) {
    if (Shows(launch, name)) return name;
  }
  if (!Shows(launch, "null")) return "null";
  launch.device_nodes = {{"/dev/nvidia0", "/dev/nvidia0"}, {"/dev/dri/card0", "/dev/dri/card0"}};
  for (const char* name : {"nvidia0", "dri/card0"}) {
    if (!Shows(launch, name)) return name;
  }
  return Shows(launch, "kfd") ? "kfd" : "";
}

TEST(DeviceMounts, HaveTheDevicesThatAreLentAndNoOthers) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!EnterHostWithDevices()) ::_exit(kNoNamespace);
    const std::string wrong = WrongDevice();
    if (!wrong.empty()) ::dprintf(STDERR_FILENO, "wrong: /dev/%s\n", wrong.c_str());
    ::_exit(wrong.empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no mount namespace can be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the device is on the standard error output";
}

}  // namespace
}  // namespace caip::host
