// Machines whose files are those of a container image.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "host/launcher/container_rights.h"
#include "host/machine/machine_files.h"
#include "host/machine/machines.h"
#include "host/machine/other_users.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kBusybox[] = "/bin/busybox";

/// Two layers: a system of busybox, and an application that changes some of its files.
class ImageMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram(), State())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
    ASSERT_TRUE(std::filesystem::exists(kBusybox)) << "scripts/setup installs busybox-static";
    ASSERT_TRUE(MakeDirectories(base_.path() / "bin").ok());
    std::filesystem::copy_file(kBusybox, base_.path() / "bin/busybox");
    for (const char* applet :
         {"sh", "cat", "ls", "pwd", "stat", "id", "env", "hostname", "touch"}) {
      std::filesystem::create_symlink("busybox", base_.path() / "bin" / applet);
    }
    Write(base_, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home:/bin/sh\n");
    Write(base_, "etc/motd", "from the base\n");
    Write(base_, "etc/gone", "deleted by the application\n");
    Write(top_, "app/data", "from the application\n");
    Write(top_, "etc/motd", "from the application\n");
    ASSERT_EQ(::mknod((top_.path() / "etc/gone").c_str(), S_IFCHR, makedev(0, 0)), 0);
    image_.layers = {base_.path().string(), top_.path().string()};
    image_.environment = {{"PATH", "/bin"}};
    image_.working_directory = "/app";
  }
  static void Write(const TemporaryDirectory& layer, const std::string& path,
                    const std::string& text) {
    ASSERT_TRUE(MakeDirectories((layer.path() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFile(layer.path() / path, text).ok());
  }

  engine::ReplicaLaunch OnImage(const std::string& script, engine::ReplicaKey key = AKey()) {
    auto launch = AShell("", std::move(key));
    launch.program = run::LocalCommand{{"sh", "-c", script}};
    launch.machine.host_name = "host-0";
    launch.user_directories = {"root", "tmp", "var/hypertune"};
    launch.environment = image_.environment;
    launch.working_directory = image_.working_directory;
    launch.isolation = engine::ReplicaIsolation{std::make_shared<engine::RunNetwork>(),
                                                "10.128.0.2", "127.0.0.1 localhost\n"};
    launch.image = std::make_shared<engine::PreparedImage>(image_);
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
  ProcessLauncherOptions Options() const {
    ProcessLauncherOptions options;
    options.own_roots = true;
    options.gpu_driver = {{}, {driver_.path()}, {driver_.path()}};
    return options;
  }

  TemporaryDirectory driver_{"caip-driver-"};
  TemporaryDirectory base_{"caip-layer-"};
  TemporaryDirectory top_{"caip-layer-"};
  engine::PreparedImage image_;
  LaunchWorld world_{Options()};
};

TEST_F(ImageMachine, HasTheFilesOfAllLayersAndNoneOfTheHost) {
  EXPECT_THAT(Output(OnImage("pwd; cat data /etc/motd; ls /etc/gone /usr/bin/env 2>&1; ls /")),
              ElementsAre("/app", "from the application", "from the application",
                          "ls: /etc/gone: No such file or directory",
                          "ls: /usr/bin/env: No such file or directory", "app", "bin", "dev", "etc",
                          "proc", "root", "sys", "tmp", "var"));
}

TEST_F(ImageMachine, HasTheDirectoriesAndFilesOfTheService) {
  EXPECT_THAT(Output(OnImage("hostname; stat -c %a /tmp /var/hypertune; cat /etc/hosts\n"
                             "cat /etc/hostname; cat /dev/null && echo x > /dev/stdout")),
              ElementsAre("host-0", "1777", "755", "127.0.0.1 localhost", "host-0", "x"));
}

TEST_F(ImageMachine, ChangesSettingsOfItsOwnNetworkOnly) {
  EXPECT_EQ(Output(OnImage(kOpenSettings)), ResultsOfOpeningSettings());
}

TEST_F(ImageMachine, WritesToItsDiskAndNeverToTheImage) {
  EXPECT_THAT(Output(OnImage("echo new > /etc/motd; echo more > data; cat /etc/motd data")),
              ElementsAre("new", "more"));
  EXPECT_EQ(*ReadFile(top_.path() / "etc/motd"), "from the application\n");
  EXPECT_EQ(*ReadFile(world_.launcher->OnHost(AKey(), "/app/data")), "more\n");
  EXPECT_THAT(Output(OnImage("cat /etc/motd", AKey(0, 2))), ElementsAre("from the application"));
}

TEST_F(ImageMachine, KeepsItsDiskAfterACrash) {
  EXPECT_THAT(Output(OnImage("echo kept > /root/state; ls /etc/motd > /dev/null")), IsEmpty());
  auto again = OnImage("cat /root/state", AKey(0, 2));
  again.fresh_disk = false;
  EXPECT_THAT(Output(std::move(again)), ElementsAre("kept"));
}

TEST_F(ImageMachine, RunsAsTheUserOfTheImage) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  image_.user = image_.group = 1000;
  EXPECT_THAT(
      Output(OnImage("id; echo out > /dev/stdout; touch /etc/x 2>&1; touch /tmp/y && ls /tmp")),
      ElementsAre("uid=1000(user) gid=1000 groups=1000", "out", "touch: /etc/x: Permission denied",
                  "y"));
}

// The status of a process has its groups in ascending order.
TEST_F(ImageMachine, HasAllGroupsOfTheUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr char kScript[] =
      "while read -r line; do case $line in Groups:*) echo $line;; esac; done"
      " < /proc/self/status";
  image_.user = image_.group = 1000;
  image_.groups = {2000, 20};
  EXPECT_THAT(Output(OnImage(kScript)), ElementsAre("Groups: 20 1000 2000"));
  image_.groups = {};
  EXPECT_THAT(Output(OnImage(kScript, AKey(0, 2))), ElementsAre("Groups: 1000"));
  image_.user = image_.group = 0;
  image_.groups = {10};
  EXPECT_THAT(Output(OnImage(kScript, AKey(0, 3))), ElementsAre("Groups: 0 10"));
}

// The kernel takes that ID for the one that a process has.
TEST_F(ImageMachine, NeverRunsAsRootInsteadOfAUserThatCannotBe) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  int boot = 0;
  for (const auto& [user, group] : {std::pair(~0u, 1u), std::pair(1u, ~0u)}) {
    image_.user = user;
    image_.group = group;
    EXPECT_THAT(world_.Run(OnImage("true", AKey(0, ++boot))).start_error,
                HasSubstr("becoming the user that the image names: Invalid argument"));
  }
}

TEST_F(ImageMachine, MakesTheTargetOfALinkThatIsItsWorkingDirectory) {
  std::filesystem::create_symlink("../srv/one", top_.path() / "app/work");
  std::filesystem::create_symlink("/srv/two/three", top_.path() / "app/link");
  std::filesystem::create_symlink("link/four", top_.path() / "app/far");
  image_.working_directory = "/app/work";
  EXPECT_THAT(Output(OnImage("busybox readlink /app/work; touch x; ls /srv/one")),
              ElementsAre("../srv/one", "x"));
  image_.working_directory = "/app/far/end";
  EXPECT_THAT(Output(OnImage("touch x; ls /srv/two/three/four/end", AKey(0, 2))), ElementsAre("x"));
}

/// What an image has, and the path that a machine cannot have because of it.
struct BlockedPlace {
  const char* name;
  const char* file;  // "": `link` is made
  const char* link;
  const char* target;
  const char* place;
};

class ImageWithoutPlace : public ImageMachine,
                          public ::testing::WithParamInterface<BlockedPlace> {};

TEST_P(ImageWithoutPlace, IsNamedInTheErrorWithThePath) {
  const BlockedPlace& blocked = GetParam();
  if (*blocked.file) {
    std::filesystem::remove_all(top_.path() / blocked.file);
    Write(top_, blocked.file, "a file\n");
  } else {
    std::filesystem::create_symlink(blocked.target, top_.path() / blocked.link);
  }
  if (std::string(blocked.name) == "WorkingDirectory") image_.working_directory = blocked.place;
  auto launch = OnImage("true");
  launch.machine.image_uri = "gcr.io/p/blocked:v1";
  const std::string error = world_.Run(std::move(launch)).start_error;
  EXPECT_THAT(error, HasSubstr("The image 'gcr.io/p/blocked:v1' cannot run: A machine needs its "
                               "own '" +
                               std::string(blocked.place) + "'"));
  EXPECT_THAT(error, Not(HasSubstr("--isolation process")));
}

INSTANTIATE_TEST_SUITE_P(
    All, ImageWithoutPlace,
    ::testing::Values(BlockedPlace{"Etc", "etc", "", "", "/etc/hosts"},
                      BlockedPlace{"HostsDirectory", "etc/hosts/file", "", "", "/etc/hosts"},
                      BlockedPlace{"Proc", "proc", "", "", "/proc"},
                      BlockedPlace{"ProcLink", "", "proc", "/etc", "/proc"},
                      BlockedPlace{"Tmp", "tmp", "", "", "/tmp"},
                      BlockedPlace{"WorkingDirectory", "app/f", "", "", "/app/f"},
                      BlockedPlace{"TmpCircle", "", "tmp", "tmp", "/tmp"}),
    [](const ::testing::TestParamInfo<BlockedPlace>& tested) { return tested.param.name; });

TEST_F(ImageMachine, DoesNotMountTheFilesOfTheKernelThroughALink) {
  std::filesystem::create_symlink("/", top_.path() / "sys");
  EXPECT_THAT(Output(OnImage("cat /app/data; ls /block 2>&1")),
              ElementsAre("from the application", "ls: /block: No such file or directory"));
}

/// Lets all calls go on, and counts those that took effect or failed.
class OperationCounter final : public ReplicaWatcher {
 public:
  int seen = 0;  // the replica's thread, read after its end

  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation&, int) override {
    ++seen;
    return {};
  }
  void Gone(const engine::ReplicaKey&) override {}
};

TEST_F(ImageMachine, RunsAsTheUserOfTheImageWhereItsCallsAreWatched) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  OperationCounter watcher;
  world_.launcher->Watch({.changed_roots = {"/"}}, watcher);
  image_.user = image_.group = 1000;
  EXPECT_THAT(Output(OnImage("touch /etc/x /app/x 2>&1; touch /tmp/y && stat -c %u:%g /tmp/y\n"
                             "{ echo more >> data; } 2> /dev/null || cat data")),
              ElementsAre("touch: /etc/x: Permission denied", "touch: /app/x: Permission denied",
                          "1000:1000", "from the application"));
  EXPECT_GT(watcher.seen, 0);
}

TEST_F(ImageMachine, HasTheDriverOfItsGpusAndCannotChangeIt) {
  Write(driver_, "libcuda.so.1", "of the host\n");
  Write(driver_, "nvidia-smi", "#!/bin/sh\necho GPU 0\n");
  ASSERT_EQ(::chmod((driver_.path() / "nvidia-smi").c_str(), 0755), 0);
  Write(driver_, "device", "");
  auto launch = OnImage(
      "cat $LD_LIBRARY_PATH/libcuda.so.1; nvidia-smi; ls /dev/nvidia*\n"
      "{ echo x > $LD_LIBRARY_PATH/libcuda.so.1; } 2>&1");
  launch.device_nodes = {{driver_.path() / "device", "/dev/nvidia0"}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("of the host", "GPU 0", "/dev/nvidia0",
                                                     HasSubstr("Read-only file system")));
  EXPECT_THAT(Output(OnImage("ls /usr 2>&1", AKey(0, 2))),
              ElementsAre("ls: /usr: No such file or directory"))
      << "a replica without GPUs has no driver";
}

TEST_F(ImageMachine, ReportsAProgramThatTheImageLacks) {
  auto launch = OnImage("");
  launch.program = run::LocalCommand{{"/bin/train"}};
  EXPECT_THAT(world_.Run(std::move(launch)).start_error, HasSubstr("'/bin/train'"));
}

TEST_F(ImageMachine, TakesMoreLayersThanTheOptionsOfAMountHaveRoomFor) {
  const TemporaryDirectory many("caip-layers-with-a-name-that-is-rather-long-");
  for (int i = 0; i < 120; ++i) {
    const Path layer = many.path() / ("layer-" + std::string(60, 'x') + std::to_string(i));
    ASSERT_TRUE(MakeDirectories(layer).ok());
    ASSERT_TRUE(WriteFile(layer / ("file-" + std::to_string(i)), "").ok());
    image_.layers.push_back(layer.string());
  }
  EXPECT_THAT(Output(OnImage("ls -d /file-* | busybox wc -l; ls /file-0 /file-119")),
              ElementsAre("120", "/file-0", "/file-119"));
}

TEST_F(ImageMachine, ShowsFilesOfTheStateThatTheLaunchNames) {
  ASSERT_TRUE(MakeDirectories(State() / "tls").ok());
  ASSERT_TRUE(WriteFile(State() / "tls/bundle.pem", "named\n").ok());
  ASSERT_TRUE(WriteFile(State() / "tls/key.pem", "secret\n").ok());
  auto launch = OnImage("cat $BUNDLE; ls ${BUNDLE%/*}");
  launch.environment.emplace_back("BUNDLE", (State() / "tls/bundle.pem").string());
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("named", "bundle.pem"));
}

// As in most images, the home directory of root is closed to others. It leads to the state.
TEST_F(ImageMachine, ShowsFilesOfTheStateBelowADirectoryThatIsClosedToItsUser) {
  if (!MayBecome(1000, 1000)) GTEST_SKIP() << "all files of the image belong to its user here";
  const Path state = State();
  ASSERT_TRUE(WriteFile(state / "named", "named\n").ok());
  const Path closed = base_.path() / state.relative_path().begin()->string();
  ASSERT_TRUE(MakeDirectories(closed).ok());
  ASSERT_TRUE(WriteFile(closed / "own", "of root\n").ok());
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
  image_.user = image_.group = 1000;
  auto launch = OnImage("cat $NAMED; ls ${PLACE} 2>&1; cat ${PLACE}/own 2>&1; id -u");
  std::erase(launch.user_directories, "tmp");
  launch.environment.emplace_back("PLACE", "/" + state.relative_path().begin()->string());
  launch.environment.emplace_back("NAMED", (state / "named").string());
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("named", HasSubstr("Permission denied"),
                                                     HasSubstr("No such file"), "1000"));
}

// Without that right, the launcher makes a user namespace, whose only user is root.
TEST(MayBecome, OtherUsersOnlyWithTheRightToMakeNamespaces) {
  if (!MayBecome(1000, 1000)) GTEST_SKIP() << "this process may become no other user";
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_limited =
        launcher::LimitOwnCapabilities(~launcher::CapabilityBits({CAP_SYS_ADMIN}));
    ::_exit(is_limited && MayBecome(0, 0) && !MayBecome(1000, 1000) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ImageMachine, NeverShowsKeysOfTheStateWhateverItNames) {
  for (const char* file : {"keys/client-token", "ca/ca.key", "ca/ca.pem"}) {
    ASSERT_TRUE(MakeDirectories((State() / file).parent_path()).ok());
    ASSERT_TRUE(WriteFile(State() / file, "contents\n").ok());
  }
  auto launch = OnImage("ls $A $B $C 2>/dev/null; ls $D; cat $E");
  const std::string state = State().string();
  launch.environment.insert(launch.environment.end(), {{"A", state + "/keys"},
                                                       {"B", state + "/keys/client-token"},
                                                       {"C", state + "/ca/ca.key"},
                                                       {"D", state + "/ca"},
                                                       {"E", state + "/ca/ca.pem"}});
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("ca.pem", "contents"));
}

}  // namespace
}  // namespace caip::host
