#include "host/process/process_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <set>

#include "host/process/orphans.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// Python that runs `before`, says "<who> ready", waits for a SIGTERM, and runs `then`.
engine::ReplicaLaunch AProgramThatAwaitsTerm(const std::string& before, const std::string& then,
                                             engine::ReplicaKey key = AKey()) {
  auto launch = AShell("", std::move(key));
  launch.program =
      run::LocalCommand{{"python3", "-c",
                         "import os, signal, sys\n"
                         "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n" +
                             before + "\nprint(who, 'ready', flush=True)\n" +
                             "signal.sigwait([signal.SIGTERM])\n" + then + "\n"}};
  return launch;
}

TEST(ProcessLauncher, TellsOfTheStartThenOfTheExitWithItsCode) {
  LaunchWorld world;
  const auto exit = world.Run(AShell("exit 3"));
  EXPECT_EQ(exit.key, AKey());
  EXPECT_EQ(exit.exit_code, 3);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_EQ(exit.start_error, "");
  EXPECT_FALSE(exit.out_of_memory);
  EXPECT_EQ(world.StartCount(), 1u);
}

TEST(ProcessLauncher, TellsTheSignalThatEndedAReplica) {
  LaunchWorld world;
  EXPECT_EQ(world.Run(AShell("kill -SEGV $$")).signal, SIGSEGV);
  EXPECT_EQ(world.Run(AShell("kill -TERM $$", AKey(0, 2))).signal, SIGTERM);
  // A shell that says 128 + N has not been killed itself.
  const auto exit = world.Run(AShell("sh -c 'kill -KILL $$'; exit $?", AKey(0, 3)));
  EXPECT_EQ(exit.signal, 0);
  EXPECT_EQ(exit.exit_code, 137);
}

TEST(ProcessLauncher, HandsAllOutputToTheLogBeforeItTellsTheExit) {
  LaunchWorld world;
  world.Run(AShell("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done"));
  EXPECT_EQ(world.LinesAtExit(), 5000u);
  const auto lines = world.sink.Lines();
  ASSERT_EQ(lines.size(), 5000u);
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i].message, "line " + std::to_string(i));
  }
  EXPECT_EQ(lines[0].run, AKey().run);
  EXPECT_EQ(lines[0].task, "worker-replica-0");
}

TEST(ProcessLauncher, GivesExactlyTheEnvironmentAndItsOwnMark) {
  LaunchWorld world;
  auto launch = AShell("");
  launch.program = run::LocalCommand{{"/usr/bin/env"}};
  launch.environment = {{"TF_CONFIG", "{\"task\": {}}"}, {"EMPTY", ""}, {"CAIP_REPLICA", "mine"}};
  world.Run(std::move(launch));
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre("TF_CONFIG={\"task\": {}}", "EMPTY=",
                          "CAIP_REPLICA=" + StateId(world.state.path()) +
                              "/my-project/census_20260101/worker-replica-0/1"));
}

TEST(ProcessLauncher, LeaksNoDescriptorSignalOrTerminal) {
  LaunchWorld world;
  const Fd leak_me(::dup(STDERR_FILENO));  // not close-on-exec, as a careless library would do it
  auto launch = AShell("");
  launch.program = run::LocalCommand{
      {"python3", "-c",
       "import os\n"
       "print('fds', *sorted(int(n) for n in os.listdir('/proc/self/fd'))[:3],\n"
       "      len(os.listdir('/proc/self/fd')))\n"
       "print('in', os.readlink('/proc/self/fd/0'))\n"
       "s = dict(l.split(':\\t') for l in open('/proc/self/status') if ':\\t' in l)\n"
       "print('blocked', int(s['SigBlk'], 16), 'ignored', bin(int(s['SigIgn'], 16) & \n"
       "      ~(1 << 12) & ~(1 << 24)))\n"
       "print('leads', os.getsid(0) == os.getpgid(0) == os.getpid())\n"}};
  world.Run(std::move(launch));
  // Python itself ignores SIGPIPE and SIGXFSZ; the fourth descriptor is that of the listing.
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre("fds 0 1 2 4", "in /dev/null", "blocked 0 ignored 0b0", "leads True"));
}

TEST(ProcessLauncher, StartsInTheWorkingDirectoryBelowTheBootDisk) {
  LaunchWorld world;
  auto launch = AShell("pwd -P; ls -1 ..");
  launch.user_directories = {"tmp", "var/hypertune"};
  world.Run(std::move(launch));
  const Path disk = std::filesystem::canonical(world.launcher->BootDisk(AKey()));
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre((disk / "user_dir").string(), "tmp", "user_dir", "var"));
  EXPECT_TRUE(std::filesystem::is_directory(disk / "var/hypertune"));
}

TEST(ProcessLauncher, KeepsTheBootDiskOrEmptiesIt) {
  LaunchWorld world;
  world.Run(AShell("echo 1 > kept; ls"));
  auto crash = AShell("ls", AKey(0, 2));
  crash.fresh_disk = false;
  world.Run(std::move(crash));
  world.Run(AShell("ls", AKey(0, 3)));
  EXPECT_THAT(world.sink.Messages(), ElementsAre("kept", "kept"));  // the third saw nothing
}

TEST(ProcessLauncher, BootDisksLieApartAndBelowTheState) {
  LaunchWorld world;
  engine::ReplicaKey evil = AKey();
  evil.run = {"..", "../../etc", "."};
  std::set<std::string> disks;
  engine::ReplicaKey trial = AKey();
  trial.run.trial = "1";
  engine::ReplicaKey dotted = AKey();
  dotted.run.project = "example.com:p";
  for (const auto& key : {AKey(0), AKey(1), trial, dotted, evil}) {
    const Path disk = world.launcher->BootDisk(key);
    EXPECT_EQ(disk, disk.lexically_normal());
    EXPECT_TRUE(disk.string().starts_with((world.state.path() / "disks/").string())) << disk;
    disks.insert(disk.string());
  }
  EXPECT_EQ(disks.size(), 5u);
  EXPECT_EQ(world.launcher->BootDisk(AKey(0, 1)), world.launcher->BootDisk(AKey(0, 7)));
}

TEST(ProcessLauncher, DiscardsTheDisksOfARun) {
  LaunchWorld world;
  world.Run(AShell("touch x"));
  const Path disk = world.launcher->BootDisk(AKey());
  ASSERT_TRUE(std::filesystem::exists(disk));
  world.launcher->Discard(AKey().run);
  world.Run(AShell("true", AKey(1)));  // orders are obeyed one after the other
  EXPECT_FALSE(std::filesystem::exists(disk));
}

TEST(ProcessLauncher, DeletesTheDisksOfAnEarlierEmulator) {
  TemporaryDirectory state;
  const Path old = state.path() / "disks/p/j/master-replica-0";
  const Path trash = state.path() / "disks/.trash/1-1";
  ASSERT_TRUE(MakeDirectories(old).ok());
  ASSERT_TRUE(MakeDirectories(trash).ok());
  SystemClock clock;
  RecordingSink sink;
  { const auto launcher = ProcessLauncher::Start({state.path(), LauncherProgram()}, clock, sink); }
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_FALSE(std::filesystem::exists(trash));
}

TEST(ProcessLauncher, SaysWhyAProgramCannotBeStarted) {
  LaunchWorld world;
  const auto error_of = [&world](const std::string& program) {
    auto launch = AShell("");
    launch.program = run::LocalCommand{{program}};
    const auto exit = world.Run(std::move(launch));
    return exit.start_error;
  };
  EXPECT_EQ(error_of("/no/such/python"), "cannot run '/no/such/python': No such file or directory");
  EXPECT_EQ(error_of("pythn"),
            "cannot run 'pythn': No such file or directory (looked for in PATH)");
  EXPECT_EQ(error_of("/etc/passwd"), "cannot run '/etc/passwd': Permission denied");
  const Path script = world.state.path() / "train.sh";
  ASSERT_TRUE(WriteFile(script, "#!/opt/pythn -u\n").ok());
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(
      error_of(script.string()),
      "cannot run '" + script.string() +
          "': No such file or directory (it is a script for '/opt/pythn', which does not exist)");
  ASSERT_TRUE(WriteFile(world.state.path() / "bare", "echo x\n").ok());
  std::filesystem::permissions(world.state.path() / "bare", std::filesystem::perms::owner_all);
  EXPECT_THAT(error_of((world.state.path() / "bare").string()), HasSubstr("without a #! line"));
  EXPECT_EQ(world.StartCount(), 0u);
}

TEST(ProcessLauncher, RefusesWhatNoProcessCanBeGiven) {
  LaunchWorld world;
  auto launch = AShell("");
  launch.program = run::LocalCommand{{}};
  EXPECT_THAT(world.Run(launch).start_error, HasSubstr("command is empty"));
  launch.program = run::LocalCommand{{"/bin/echo", std::string("a\0b", 3)}};
  EXPECT_THAT(world.Run(launch).start_error, HasSubstr("NUL"));
  launch.program = run::LocalCommand{{"/bin/echo"}};
  launch.environment = {{"A=B", "c"}};
  EXPECT_THAT(world.Run(launch).start_error, HasSubstr("'A=B'"));
  launch.environment = {{"BIG", std::string(3u << 20, 'x')}};
  EXPECT_THAT(world.Run(launch).start_error, HasSubstr("Argument list too long"));
}

TEST(ProcessLauncher, StartsWithArgumentsFarLargerThanAMessage) {
  LaunchWorld world;
  auto launch = AShell("");
  launch.program = run::LocalCommand{{"/bin/sh", "-c", "echo $# ${#9}", "sh"}};
  for (int i = 0; i < 9; ++i) launch.arguments.push_back(std::string(100'000, 'a'));
  world.Run(std::move(launch));
  EXPECT_THAT(world.sink.Messages(), ElementsAre("9 100000"));
}

TEST(ProcessLauncher, LetsAContainerOfAnyUserWriteItsMetrics) {
  LaunchWorld world;
  const std::string directory = world.launcher->BootDisk(AKey()) + "/var/hypertune";
  auto launch = AShell("stat -c %a '" + directory + "'");
  launch.user_directories = {"var/hypertune"};
  launch.metrics = engine::MetricSource{"accuracy", directory + "/output.metric", ""};
  world.Run(launch);
  launch.key = AKey(0, 2);
  launch.removal = {"/bin/true"};  // of a container
  world.Run(std::move(launch));
  EXPECT_THAT(world.sink.Messages(), ElementsAre(::testing::Not("1777"), "1777"));
}

TEST(ProcessLauncher, SaysWhyADiskCannotBeMade) {
  LaunchWorld world;
  ASSERT_TRUE(WriteFile(world.state.path() / "disks/my-project", "a file").ok() ||
              (MakeDirectories(world.state.path() / "disks").ok() &&
               WriteFile(world.state.path() / "disks/my-project", "a file").ok()));
  EXPECT_THAT(world.Run(AShell("true")).start_error, HasSubstr("disks/my-project"));
}

TEST(ProcessLauncher, SignalsTheMainProcessGroup) {
  LaunchWorld world;
  world.Launch(AProgramThatAwaitsTerm("pid = os.fork()\nwho = 'leader' if pid else 'child'",
                                      "print(who, 'heard', flush=True)\n"
                                      "if pid: os.wait(); sys.exit(7)"));
  ASSERT_TRUE(world.sink.AwaitMessage("leader ready"));
  ASSERT_TRUE(world.sink.AwaitMessage("child ready"));
  world.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 7);
  EXPECT_THAT(world.sink.Messages(),
              UnorderedElementsAre("leader ready", "child ready", "leader heard", "child heard"));
}

TEST(ProcessLauncher, KillsAlsoADaemonThatLeftItsSession) {
  LaunchWorld world;
  world.Launch(AShell("(setsid sh -c 'echo daemon; exec sleep 1000' &) ; echo ready; sleep 1000"));
  ASSERT_TRUE(world.sink.AwaitMessage("daemon"));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  EXPECT_GE(FindReplicas(StateId(world.state.path())).size(), 2u);
  world.launcher->Kill(AKey());
  const auto exit = world.AwaitExits(1).back();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_FALSE(exit.out_of_memory);
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
}

TEST(ProcessLauncher, KillsWhatAProgramLeavesRunningAndSaysSo) {
  LaunchWorld world;
  const auto exit = world.Run(AShell("(setsid sleep 1000 &); sleep 1000 & exit 0"));
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre("The program ended, but 2 processes that it had started were still "
                          "running; killed with the replica."));
  EXPECT_EQ(world.sink.Lines().back().severity, engine::Severity::kWarning);
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
}

TEST(ProcessLauncher, SurvivesAProgramThatKillsItsParent) {
  LaunchWorld world;
  const auto exit = world.Run(AShell("(setsid sleep 1000 &); echo x; kill -9 $PPID; sleep 1000"));
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("x"));
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
  EXPECT_EQ(world.Run(AShell("exit 4", AKey(0, 2))).exit_code, 4);
}

TEST(ProcessLauncher, OutlivesItsLauncherProcess) {
  LaunchWorld world;
  world.Launch(AShell("(setsid sleep 1000 &); cut -d' ' -f4 /proc/$PPID/stat; sleep 1000"));
  ASSERT_TRUE(world.sink.AwaitMessage(""));
  world.AwaitStarts(1);
  ::kill(std::stoi(world.sink.Messages().at(0)), SIGKILL);  // caip-launcher
  EXPECT_EQ(world.AwaitExits(1).back().signal, SIGKILL);
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
  EXPECT_EQ(world.Run(AShell("exit 4", AKey(0, 2))).exit_code, 4);
  EXPECT_EQ(world.ExitCount(), 2u);
}

// The launcher may be dead before its link has noticed.
TEST(ProcessLauncher, StartsAReplicaRightAfterItsLauncherProcessWasKilled) {
  LaunchWorld world;
  for (int boot = 1; boot <= 30; ++boot) {
    world.Run(AShell("cut -d' ' -f4 /proc/$PPID/stat", AKey(0, boot)));
    const pid_t launcher = std::stoi(world.sink.Messages().back());
    ::kill(launcher, SIGKILL);
    siginfo_t dead{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(launcher), &dead, WEXITED | WNOWAIT), 0);
    const auto exit = world.Run(AShell("exit 4", AKey(1, boot)));
    if (exit.signal == SIGKILL) {  // as a replica of the launcher that was just dying
      ASSERT_TRUE(exit.start_error.empty() || exit.start_may_pass) << exit.start_error;
    } else {
      ASSERT_EQ(exit.start_error, "") << "in round " << boot;
      ASSERT_EQ(exit.exit_code, 4) << "in round " << boot;
    }
  }
}

TEST(ProcessLauncher, TellsMemoryRunningOutFromAnyOtherKill) {
  std::atomic<int64_t> oom_kills = 10;
  LaunchWorld world([&oom_kills] { return oom_kills.load(); });
  EXPECT_FALSE(world.Run(AShell("kill -9 $$")).out_of_memory);

  const auto run_while_the_kernel_kills = [&](int boot, const std::string& last_act) {
    const std::string who = "boot " + std::to_string(boot);
    world.Launch(AProgramThatAwaitsTerm("who = '" + who + "'", last_act, AKey(0, boot)));
    EXPECT_TRUE(world.sink.AwaitMessage(who + " ready"));
    ++oom_kills;
  };
  run_while_the_kernel_kills(2, "os.kill(os.getpid(), 9)");
  world.launcher->Signal(AKey(0, 2), SIGTERM);
  EXPECT_TRUE(world.AwaitExits(2).back().out_of_memory);
  EXPECT_THAT(world.sink.Messages().back(), HasSubstr("memory ran out"));

  run_while_the_kernel_kills(3, "sys.exit(1)");  // somebody else was killed
  world.launcher->Signal(AKey(0, 3), SIGTERM);
  EXPECT_FALSE(world.AwaitExits(3).back().out_of_memory);

  run_while_the_kernel_kills(4, "sys.exit(1)");  // we killed it
  world.launcher->Kill(AKey(0, 4));
  EXPECT_FALSE(world.AwaitExits(4).back().out_of_memory);
}

TEST(ProcessLauncher, RunsFiftyReplicasAtOnce) {
  LaunchWorld world;
  for (int i = 0; i < 50; ++i) {
    world.Launch(AShell("echo out $0; echo err >&2; exit " + std::to_string(i), AKey(i)));
  }
  std::set<int> codes;
  for (const auto& exit : world.AwaitExits(50)) {
    EXPECT_EQ(exit.exit_code, exit.key.replica.index);
    codes.insert(exit.exit_code);
  }
  EXPECT_EQ(codes.size(), 50u);
  EXPECT_EQ(world.sink.Lines().size(), 100u);
}

TEST(ProcessLauncher, OrdersForAReplicaThatIsGoneDoNothing) {
  LaunchWorld world;
  world.Run(AShell("true"));
  world.launcher->Signal(AKey(), SIGTERM);
  world.launcher->Kill(AKey());
  world.launcher->Kill(AKey(9));
  // The next boot is another replica: orders for the first do not reach it.
  world.Launch(AShell("echo ready; exec sleep 1000", AKey(0, 2)));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  world.launcher->Kill(AKey(0, 1));
  world.launcher->Signal(AKey(0, 2), SIGTERM);
  EXPECT_EQ(world.AwaitExits(2).back().signal, SIGTERM);
}

TEST(ProcessLauncher, CannotStartWithoutItsProgram) {
  TemporaryDirectory state;
  SystemClock clock;
  RecordingSink sink;
  const auto launcher =
      ProcessLauncher::Start({state.path(), "/no/caip-launcher", {}}, clock, sink);
  ASSERT_FALSE(launcher.ok());
  EXPECT_THAT(launcher.error().message, HasSubstr("/no/caip-launcher"));
}

TEST(ProcessLauncher, LeavesNothingWhenItIsDestroyed) {
  LaunchWorld world;
  world.Launch(AShell("(setsid sleep 1000 &); echo ready; sleep 1000"));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  world.launcher.reset();
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
  EXPECT_EQ(world.ExitCount(), 0u);
}

TEST(ProcessLauncher, CopiesWorkingFilesOntoAFreshDisk) {
  LaunchWorld world;
  const TemporaryDirectory packages("caip-packages-");
  const Path file = packages.path() / "trainer-0.1.tar.gz";
  ASSERT_TRUE(WriteFile(file, "archive\n").ok());
  auto first = AShell("cat trainer-0.1.tar.gz; echo changed > trainer-0.1.tar.gz");
  first.working_files = {file.string()};
  world.Run(first);
  EXPECT_EQ(*ReadFile(file), "archive\n");
  auto kept = AShell("cat trainer-0.1.tar.gz", AKey(0, 2));
  kept.working_files = {file.string()};
  kept.fresh_disk = false;
  world.Run(kept);
  auto fresh = AShell("cat trainer-0.1.tar.gz", AKey(0, 3));
  fresh.working_files = {file.string()};
  world.Run(fresh);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("archive", "changed", "archive"));
}

}  // namespace
}  // namespace caip::host
