// The commands of podman and docker, which are scripts here that note their words.

#include "host/containers/container_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "base/text.h"
#include "host/containers/engine_images.h"
#include "host/containers/engine_launcher.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Containers : ::testing::Test {
  void Install(const std::string& program, const std::string& script) {
    ASSERT_TRUE(WriteFile(bin.path() / program,
                          "#!/bin/sh\necho \"$@\" >> '" + Notes().string() + "'\n" + script + "\n")
                    .ok());
    std::filesystem::permissions(bin.path() / program, std::filesystem::perms(0755));
  }
  Path Notes() const { return bin.path() / "notes"; }
  std::vector<std::string> Noted() const {
    const auto text = ReadFile(Notes());
    std::vector<std::string> lines = Split(text.ok() ? *text : "", '\n');
    std::erase(lines, "");
    return lines;
  }
  ContainerEngine Engine(ContainerEngineKind kind = ContainerEngineKind::kPodman) const {
    return ContainerEngine(kind, "0123", {{"PATH", bin.path().string() + ":/usr/bin:/bin"}},
                           std::chrono::milliseconds(0));
  }

  TemporaryDirectory bin{"caip-engines-"};
  const ContainerRun run{.name = "caip-1",
                         .image = "localhost/caip:1",
                         .argv = {"/bin/train", "--text", "a b"},
                         .environment = {{"A", "b c"}},
                         .working_directory = "/app",
                         .host_name = "master-0",
                         .hosts = {{"worker-0", "127.1.2.3"}},
                         .directories = {{"/state/disk", "/shown/disk"}},
                         .files = {{"/state/ca.pem", "/shown/ca.pem"}}};
};

TEST_F(Containers, RunWithTheWordsOfTheReplica) {
  const std::vector<std::string> words = Engine(ContainerEngineKind::kDocker).CommandFor(run);
  EXPECT_THAT(words, ElementsAre("docker", "run", "--name=caip-1", "--label=caip.state=0123",
                                 "--network=host", "--pull=never", "--hostname=master-0",
                                 "--workdir=/app", "--init", "--add-host=worker-0:127.1.2.3",
                                 "--mount=type=bind,source=/state/disk,target=/shown/disk",
                                 "--mount=type=bind,source=/state/ca.pem,target=/shown/ca.pem,"
                                 "readonly",
                                 "--env=A=b c", "--entrypoint=/bin/train", "localhost/caip:1",
                                 "--text", "a b"));
}

// podman refuses a named directory that the image does not have, and makes the image's own.
TEST_F(Containers, BeginInTheDirectoryOfTheImageUnlessAnotherIsNamed) {
  ContainerRun plain = run;
  plain.working_directory = "";
  for (const auto kind : {ContainerEngineKind::kDocker, ContainerEngineKind::kPodman}) {
    EXPECT_THAT(Engine(kind).CommandFor(plain), Not(Contains(StartsWith("--workdir"))));
  }
}

// The files of GPUs need no tools of NVIDIA in the engine.
TEST_F(Containers, HaveTheDevicesOfTheReplicaAndTheirDriver) {
  ContainerRun with_gpu = run;
  with_gpu.devices = {{"/dev/nvidiactl", "/dev/nvidiactl"},
                      {"/dev/nvidia3", "/dev/nvidia3"},
                      {"/lib/libcuda.so.535", "/usr/local/nvidia/lib64/libcuda.so.1", true}};
  for (const auto kind : {ContainerEngineKind::kDocker, ContainerEngineKind::kPodman}) {
    EXPECT_THAT(Engine(kind).CommandFor(with_gpu),
                AllOf(Contains("--device=/dev/nvidiactl:/dev/nvidiactl:rw"),
                      Contains("--device=/dev/nvidia3:/dev/nvidia3:rw"),
                      Contains("--mount=type=bind,source=/lib/libcuda.so.535,"
                               "target=/usr/local/nvidia/lib64/libcuda.so.1,readonly")));
  }
}

// podman looks for an init program of its own, which few hosts have, and raises limits.
TEST_F(Containers, OfPodmanHaveAnInitProgramOfTheHostAndItsLimits) {
  Install("docker-init", "");
  const std::vector<std::string> words = Engine().CommandFor(run);
  EXPECT_EQ(words.front(), "podman");
  EXPECT_THAT(words, Contains(StartsWith("--ulimit=nofile=")));
  EXPECT_THAT(words, Contains(StartsWith("--ulimit=nproc=")));
  EXPECT_THAT(words, Contains("--init"));
  EXPECT_THAT(words, Contains(StartsWith("--init-path=/")));
}

TEST_F(Containers, AreRemovedByTheLabelOfTheirStateDirectory) {
  Install("podman", "[ \"$1\" = ps ] && printf 'caip-1\\ncaip-2\\n'; exit 0");
  EXPECT_TRUE(Engine().RemoveAll().ok());
  EXPECT_THAT(Noted(), ElementsAre("ps --all --format {{.Names}} --filter label=caip.state=0123",
                                   "rm --force caip-1", "rm --force caip-2"));
}

TEST_F(Containers, ThatAreLeftAreNamed) {
  Install("docker",
          "[ \"$1\" = ps ] && { printf 'caip-1\\n'; exit 0; }; echo 'it hangs' >&2; exit 1");
  const Status removed = Engine(ContainerEngineKind::kDocker).Remove("caip-1");
  EXPECT_EQ(removed.error().message,
            "docker cannot remove the container caip-1, which may still run: it hangs. Remove it "
            "with `docker rm --force caip-1`.");
  EXPECT_EQ(Engine(ContainerEngineKind::kDocker).RemoveAll().error().message,
            removed.error().message);
}

// docker fails while a command of an earlier emulator removes the container.
TEST_F(Containers, ThatAreBeingRemovedAreAwaited) {
  const std::string tries = "$(grep -c ^rm '" + Notes().string() + "')";
  Install("docker", "[ " + tries +
                        " -lt 3 ] || exit 0\n"
                        "[ \"$1\" = ps ] && { echo caip-1; exit 0; }\n"
                        "echo 'removal is already in progress' >&2; exit 1");
  const ContainerEngine engine(ContainerEngineKind::kDocker, "0123",
                               {{"PATH", bin.path().string() + ":/usr/bin:/bin"}});
  EXPECT_TRUE(engine.Remove("caip-1").ok());
}

TEST_F(Containers, ThatAreMissingCountAsRemoved) {
  Install("docker", "[ \"$1\" = ps ] && exit 0; echo 'No such container' >&2; exit 1");
  EXPECT_TRUE(Engine(ContainerEngineKind::kDocker).Remove("caip-1").ok());
}

// The colon of --volume is also a character of paths.
TEST_F(Containers, SeePathsWithAnyCharacter) {
  ContainerRun odd = run;
  odd.directories = {{"/a:b", "/a:b"}, {"/c,\"d\"", "/c,\"d\""}};
  odd.files = {};
  EXPECT_THAT(Engine(ContainerEngineKind::kDocker).CommandFor(odd),
              AllOf(Contains("--mount=type=bind,source=/a:b,target=/a:b"),
                    Contains("--mount=type=bind,\"source=/c,\"\"d\"\"\",\"target=/c,\"\"d\"\"\"")));
}

TEST_F(Containers, NeedAnEngineThatAnswers) {
  ContainerEngine nowhere(ContainerEngineKind::kPodman, "0", {{"PATH", bin.path().string()}});
  EXPECT_THAT(nowhere.Check().error().message,
              AllOf(HasSubstr("The program 'podman' is not on PATH."),
                    HasSubstr("--container-engine bundled")));
  Install("docker", "echo 'some advice' >&2; echo 'Cannot connect to the daemon' >&2; exit 1");
  EXPECT_THAT(Engine(ContainerEngineKind::kDocker).Check().error().message,
              HasSubstr("docker does not answer: Cannot connect to the daemon."));
  Install("docker", "exit 0");
  EXPECT_TRUE(Engine(ContainerEngineKind::kDocker).Check().ok());
}

TEST_F(Containers, GetImagesThatTheEngineLoads) {
  Install("podman", "[ \"$1\" = load ] && { echo 'no space left' >&2; exit 125; }; exit 1");
  EXPECT_FALSE(Engine().HasImage("localhost/caip:1"));
  EXPECT_EQ(Engine().Load("/i.tar", {}).error().message, "podman cannot load it: no space left");
  EXPECT_THAT(Noted(), ElementsAre("image inspect --format {{.Id}} localhost/caip:1",
                                   "load --input /i.tar"));
}

/// Notes launches, and ends a replica when a test says so.
class NotedProcesses final : public engine::Launcher, public engine::LocalDisks {
 public:
  Result<run::Program> Resolve(const run::Program& program) const override { return program; }
  void Launch(engine::ReplicaLaunch launch, Listener listener) override {
    launched.push_back(std::move(launch));
    listeners.push_back(std::move(listener));
  }
  void Signal(const engine::ReplicaKey&, int) override {}
  void Kill(const engine::ReplicaKey&) override {}
  void Discard(const engine::RunKey&) override {}
  std::string BootDisk(const engine::ReplicaKey&) const override { return disk; }

  std::string disk = "/state/disks/d";
  std::vector<engine::ReplicaLaunch> launched;
  std::vector<Listener> listeners;
};

struct ContainersOfReplicas : Containers {
  ContainersOfReplicas() {
    Install("podman", "exit 0");
    auto inner = std::make_unique<NotedProcesses>();
    processes = inner.get();
    launcher =
        *MakeEngineLauncher(std::move(inner), *processes, state.path(), Engine(), clock, log);
  }
  engine::ReplicaLaunch Launch() const {
    engine::ReplicaLaunch launch;
    launch.key = {{"p", "job", ""}, {"worker", 1}, 1};
    launch.program = run::ContainerImage{.uri = "gcr.io/p/i", .entrypoint = {"/bin/train"}};
    launch.environment = {{"NAME", "value"},
                          {"CURL_CA_BUNDLE", (state.path() / "ca.pem").string()},
                          {"MISSING", (state.path() / "missing").string()}};
    launch.working_directory = "/app";
    return launch;
  }
  static std::shared_ptr<const engine::PreparedImage> Image() {
    engine::PreparedImage image;
    image.hold = std::make_shared<const EngineImageName>("localhost/caip:1");
    return std::make_shared<const engine::PreparedImage>(std::move(image));
  }

  TemporaryDirectory state;
  VirtualClock clock{Instant{}};
  RecordingSink log;
  NotedProcesses* processes = nullptr;
  std::unique_ptr<engine::Launcher> launcher;
};

TEST_F(ContainersOfReplicas, RunAsProcessesOfTheEngine) {
  ASSERT_TRUE(WriteFile(state.path() / "ca.pem", "certificates").ok());
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  launch.buckets_at = "/gcs";
  launch.mounts = {{"/srv/nfs", "/mnt/nfs/data"}};
  launcher->Launch(std::move(launch), {});
  ASSERT_EQ(processes->launched.size(), 1u);
  const engine::ReplicaLaunch& inner = processes->launched.front();
  const std::string ca = (state.path() / "ca.pem").string();
  EXPECT_THAT(
      inner.Argv(),
      AllOf(Contains("localhost/caip:1"), Contains("--env=NAME=value"), Contains("--workdir=/app"),
            Contains("--mount=type=bind,source=/state/disks/d,target=/state/disks/d"),
            Contains("--mount=type=bind,source=" + ca + ",target=/run/caip/ca.pem,readonly"),
            Contains("--env=CURL_CA_BUNDLE=/run/caip/ca.pem"),
            Contains("--mount=type=bind,source=" + (state.path() / "buckets").string() +
                     ",target=/gcs"),
            Contains("--mount=type=bind,source=/srv/nfs,target=/mnt/nfs/data"),
            Not(Contains(HasSubstr("target=" + (state.path() / "missing").string())))));
  EXPECT_EQ(inner.buckets_at, "") << "its words name places of the container";
  EXPECT_TRUE(inner.mounts.empty()) << "as these do";
  EXPECT_EQ(FindVariable(inner.environment, "NAME"), std::nullopt) << "the engine has its own";
  EXPECT_TRUE(FindVariable(inner.environment, "PATH"));
}

TEST_F(ContainersOfReplicas, BeginInTheDirectoryOfTheirImage) {
  engine::ReplicaLaunch launch = Launch();
  engine::PreparedImage image = *Image();
  image.working_directory = launch.working_directory;
  launch.image = std::make_shared<const engine::PreparedImage>(std::move(image));
  launcher->Launch(std::move(launch), {});
  EXPECT_THAT(processes->launched.front().Argv(), Not(Contains(StartsWith("--workdir"))));
}

// An image may close directories that lead to the state directory to its user, such as /root.
TEST_F(ContainersOfReplicas, SeeNoPathOfTheStateDirectory) {
  const std::string root = state.path().string();
  processes->disk = root + "/disks/d";
  engine::ReplicaLaunch launch = Launch();
  launch.environment = {{"FILE", processes->disk + "/var/metric"}, {"OTHER", root + "x/y"}};
  launch.arguments = {"--job-dir", root + "/buckets/b/out"};
  launch.image = Image();
  launcher->Launch(std::move(launch), {});
  const std::vector<std::string> words = processes->launched.front().Argv();
  EXPECT_THAT(
      words,
      AllOf(Contains("--env=FILE=/run/caip/disks/d/var/metric"),
            Contains("--env=OTHER=" + root + "x/y"), Contains("/run/caip/buckets/b/out"),
            Contains("--mount=type=bind,source=" + root + "/disks/d,target=/run/caip/disks/d"),
            Contains("--mount=type=bind,source=" + root + "/buckets,target=/run/caip/buckets")));
  EXPECT_THAT(words, Not(Contains(HasSubstr("target=" + root))));
}

// An export may have the state directory in it, or be in there.
TEST_F(ContainersOfReplicas, DoNotSeeTheStateDirectoryInExports) {
  const std::string root = std::filesystem::canonical(state.path()).string();
  const std::string name = state.path().filename().string();
  for (const char* directory : {"keys", "buckets/data"}) {
    ASSERT_TRUE(MakeDirectories(Path(root) / directory).ok());
  }
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  launch.mounts = {{Path(root).parent_path().string(), "/mnt/nfs/all"},
                   {root + "/keys", "/mnt/nfs/keys"},
                   {root + "/buckets/data", "/mnt/nfs/data"}};
  launcher->Launch(std::move(launch), {});
  const std::vector<std::string> words = processes->launched.front().Argv();
  EXPECT_THAT(words, AllOf(Contains(StartsWith("--tmpfs=/mnt/nfs/all/" + name + ":ro")),
                           Contains(StartsWith("--tmpfs=/mnt/nfs/keys:ro")),
                           Contains("--mount=type=bind,source=" + root +
                                    "/buckets/data,target=/mnt/nfs/data"),
                           Not(Contains(HasSubstr("source=" + root + "/keys")))));
}

TEST_F(ContainersOfReplicas, DoNotSeeTheStateDirectoryOfTheUserInExports) {
  const TemporaryDirectory user("caip-user-");
  const std::string outer = std::filesystem::canonical(user.path()).string() + "/state";
  ASSERT_TRUE(MakeDirectories(Path(outer) / "keys").ok());
  auto inner = std::make_unique<NotedProcesses>();
  NotedProcesses& launched = *inner;
  const auto of_run = *MakeEngineLauncher(std::move(inner), launched, state.path(), Engine(), clock,
                                          log, {}, {outer});
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  launch.mounts = {{Path(outer).parent_path().string(), "/mnt/nfs/home"}};
  of_run->Launch(std::move(launch), {});
  EXPECT_THAT(launched.launched.front().Argv(),
              Contains(StartsWith("--tmpfs=/mnt/nfs/home/state:ro")));
}

TEST_F(ContainersOfReplicas, HaveTheGpusThatTheReplicaWasLent) {
  const TemporaryDirectory driver("caip-driver-");
  ASSERT_TRUE(WriteFile(driver.path() / "libcuda.so.1", "driver").ok());
  auto inner = std::make_unique<NotedProcesses>();
  NotedProcesses& noted = *inner;
  const auto with_driver = *MakeEngineLauncher(std::move(inner), noted, state.path(), Engine(),
                                               clock, log, {{}, {driver.path()}, {}});
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  with_driver->Launch(launch, {});
  EXPECT_THAT(noted.launched.back().Argv(), Not(Contains(HasSubstr("libcuda")))) << "it has no GPU";
  launch.device_nodes = {{"/dev/nvidia0", "/dev/nvidia0"}};
  launch.environment.emplace_back("CUDA_VISIBLE_DEVICES", "GPU-1");
  with_driver->Launch(launch, {});
  EXPECT_THAT(noted.launched.back().Argv(),
              AllOf(Contains("--device=/dev/nvidia0:/dev/nvidia0:rw"),
                    Contains(HasSubstr("target=/usr/local/nvidia/lib64/libcuda.so.1,readonly")),
                    Contains("--env=LD_LIBRARY_PATH=/usr/local/nvidia/lib64"),
                    Contains("--env=CUDA_VISIBLE_DEVICES=GPU-1")));
  EXPECT_TRUE(noted.launched.back().device_nodes.empty()) << "they are in the container";
  EXPECT_TRUE(log.Lines().empty());
}

TEST_F(ContainersOfReplicas, WarnOfGpusWithoutADriver) {
  auto inner = std::make_unique<NotedProcesses>();
  NotedProcesses& noted = *inner;
  const auto without_driver = *MakeEngineLauncher(std::move(inner), noted, state.path(), Engine(),
                                                  clock, log, {{}, {}, {}});
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  launch.task = "worker-replica-1";
  launch.device_nodes = {{"/dev/nvidia0", "/dev/nvidia0"}};
  without_driver->Launch(launch, {});
  const std::vector<engine::LogLine> lines = log.Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.front().severity, engine::Severity::kWarning);
  EXPECT_THAT(lines.front().message, HasSubstr("worker-replica-1 gets the device files of its GPUs "
                                               "without their driver"));
}

// Other users of a host read command lines. With the token, they could run jobs as this user.
TEST_F(ContainersOfReplicas, GetTheirTokenByTheEnvironment) {
  engine::ReplicaLaunch launch = Launch();
  launch.environment.emplace_back("GOOGLE_AUTH_TOKEN_FOR_TESTING", "ya29.secret");
  launch.image = Image();
  launcher->Launch(std::move(launch), {});
  const engine::ReplicaLaunch& inner = processes->launched.front();
  EXPECT_THAT(inner.Argv(), AllOf(Contains("--env=GOOGLE_AUTH_TOKEN_FOR_TESTING"),
                                  Not(Contains(HasSubstr("ya29.secret")))));
  EXPECT_EQ(FindVariable(inner.environment, "GOOGLE_AUTH_TOKEN_FOR_TESTING"), "ya29.secret");
}

// A hostile image chooses the values of its variables.
TEST_F(ContainersOfReplicas, SeeNothingOfThisHostThatAnImageNames) {
  const std::string root = state.path().string();
  for (const char* file : {"ca/ca.key", "keys/client-token", "disks/other/secret"}) {
    ASSERT_TRUE(MakeDirectories((state.path() / file).parent_path()).ok());
    ASSERT_TRUE(WriteFile(state.path() / file, "secret").ok());
  }
  std::filesystem::create_symlink("/etc/passwd", state.path() / "link");
  for (const std::string& named :
       {root + "/../../etc/passwd", root + "/", root + "/keys", root + "/keys/client-token",
        root + "/ca/ca.key", root + "/disks", root + "/link", root + "/buckets/../keys"}) {
    engine::ReplicaLaunch launch = Launch();
    launch.environment = {{"X", named}};
    launch.image = Image();
    launcher->Launch(std::move(launch), {});
    EXPECT_THAT(processes->launched.back().Argv(), Not(Contains(HasSubstr("source=" + root))))
        << named;
  }
}

TEST_F(ContainersOfReplicas, AreRemovedBeforeTheirExitIsReported) {
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  std::promise<engine::ReplicaExit> ended;
  engine::Launcher::Listener listener;
  listener.on_exit = [&](const engine::ReplicaExit& exit) { ended.set_value(exit); };
  launcher->Launch(std::move(launch), std::move(listener));
  engine::ReplicaExit exit;
  exit.exit_code = 137;
  processes->listeners.front().on_exit(exit);
  auto reported = ended.get_future();
  ASSERT_EQ(reported.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_EQ(reported.get().exit_code, 137);
  EXPECT_THAT(Noted(), Contains(StartsWith("rm --force caip-")));
}

// The replica's own process has done it by then, also if this emulator has ended meanwhile.
TEST_F(ContainersOfReplicas, AreRemovedByTheLaunchOfTheirReplica) {
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  bool has_ended = false;
  engine::Launcher::Listener listener;
  listener.on_exit = [&](const engine::ReplicaExit&) { has_ended = true; };
  launcher->Launch(std::move(launch), std::move(listener));
  const engine::ReplicaLaunch& inner = processes->launched.front();
  ASSERT_THAT(inner.removal, ElementsAre("podman", "rm", "--force", StartsWith("caip-")));
  EXPECT_THAT(inner.Argv(), Contains("--name=" + inner.removal.back()));
  engine::ReplicaExit exit;
  exit.is_removed = true;
  processes->listeners.front().on_exit(exit);
  EXPECT_TRUE(has_ended);
  EXPECT_THAT(Noted(), Not(Contains(StartsWith("rm"))));
}

// It may still run, and write to the bucket.
TEST_F(ContainersOfReplicas, ThatAreLeftAreWarningsInTheLogOfTheJob) {
  Install("podman", "[ \"$1\" = rm ] && { echo 'it hangs' >&2; exit 1; }; echo caip-1");
  engine::ReplicaLaunch launch = Launch();
  launch.image = Image();
  std::promise<void> ended;
  engine::Launcher::Listener listener;
  listener.on_exit = [&](const engine::ReplicaExit&) { ended.set_value(); };
  launcher->Launch(launch, std::move(listener));
  engine::ReplicaExit exit;
  exit.key = launch.key;
  processes->listeners.front().on_exit(exit);
  ASSERT_EQ(ended.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const std::vector<engine::LogLine> lines = log.Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.front().run, launch.key.run);
  EXPECT_EQ(lines.front().severity, engine::Severity::kWarning);
  EXPECT_THAT(lines.front().message, HasSubstr("which may still run: it hangs."));
}

// A replica of the same name could not start.
TEST_F(ContainersOfReplicas, OfAnEarlierEmulatorThatAreLeftAreAnError) {
  Install("podman", "[ \"$1\" = rm ] && { echo 'it hangs' >&2; exit 1; }; echo caip-1");
  const auto made = MakeEngineLauncher(std::make_unique<NotedProcesses>(), *processes, state.path(),
                                       Engine(), clock, log);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("cannot remove the container caip-1"));
}

TEST_F(ContainersOfReplicas, AreNotUsedWithoutAnImage) {
  launcher->Launch(Launch(), {});
  EXPECT_EQ(processes->launched.front().Argv(), std::vector<std::string>{"/bin/train"});
  EXPECT_EQ(processes->launched.front().working_directory, "/app");
}

}  // namespace
}  // namespace caip::host
