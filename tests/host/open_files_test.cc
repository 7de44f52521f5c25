#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <string>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A process opens few further files as long as the object lives.
class RoomForFiles {
 public:
  /// 0: this process. No descriptor from `limit` on is free.
  RoomForFiles(pid_t process, rlim_t limit) : process_(process) {
    EXPECT_EQ(::prlimit(process_, RLIMIT_NOFILE, nullptr, &before_), 0);
    const rlimit lowered{limit, before_.rlim_max};
    EXPECT_EQ(::prlimit(process_, RLIMIT_NOFILE, &lowered, nullptr), 0);
  }
  RoomForFiles(const RoomForFiles&) = delete;
  ~RoomForFiles() { ::prlimit(process_, RLIMIT_NOFILE, &before_, nullptr); }

 private:
  pid_t process_;
  rlimit before_{};
};

rlim_t FirstFreeDescriptor() {
  const Fd free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return static_cast<rlim_t>(free.get());
}

/// The launcher is the parent of the replica's init, which is the parent of the shell.
pid_t LauncherOf(LaunchWorld& world) {
  world.Run(AShell("read -r id name state parent rest < /proc/$PPID/stat; echo $parent"));
  return static_cast<pid_t>(std::stoi(world.sink.Messages().back()));
}

void ExpectLost(LaunchWorld& world, engine::ReplicaKey key, const std::string& why) {
  const engine::ReplicaExit exit = world.Run(AShell("exit 0", std::move(key)));
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.start_may_pass);
  EXPECT_THAT(exit.start_error, HasSubstr(why));
  ASSERT_FALSE(world.sink.Lines().empty());
  const engine::LogLine line = world.sink.Lines().back();
  EXPECT_EQ(line.run, AKey().run);
  EXPECT_EQ(line.task, "worker-replica-0");
  EXPECT_THAT(line.message,
              AllOf(HasSubstr("This replica did not start: "), HasSubstr(why),
                    HasSubstr("It counts as one whose machine was lost. Raise the limits of open "
                              "files and of processes with which the emulator starts (ulimit "
                              "-Hn, ulimit -Hu)")));
}

TEST(OpenFiles, AReplicaForWhosePipesThereIsNoRoomNamesTheLimit) {
  LaunchWorld world;
  {
    const RoomForFiles room(0, FirstFreeDescriptor() + 3);  // its output, half of its errors
    ExpectLost(world, AKey(), "Too many open files");
  }
  EXPECT_EQ(world.Run(AShell("exit 3", AKey(0, 2))).exit_code, 3);
}

TEST(OpenFiles, AReplicaThatTheLauncherHasNoRoomForNamesTheLimit) {
  LaunchWorld world;
  const pid_t launcher = LauncherOf(world);
  {
    const RoomForFiles none(launcher, 3);  // with less, it could not even wait for its two files
    ExpectLost(world, AKey(0, 2), "cannot make a process for '/bin/sh': Too many open files");
  }
  EXPECT_EQ(world.Run(AShell("exit 3", AKey(0, 3))).exit_code, 3);
}

}  // namespace
}  // namespace caip::host
