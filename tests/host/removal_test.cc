// The command that removes what a replica has started elsewhere, whichever processes are killed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "host/process/launcher_link.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

constexpr int kPatience_ms = 30'000;

class Removals : public ::testing::Test {
 protected:
  Removals() {
    LauncherLink::Listener listener;
    listener.report = [this](const launcher::Report& report) {
      if (report.kind == launcher::Report::kStarted) started_.set_value(report);
      if (report.kind == launcher::Report::kEnded) ended_.set_value(report);
    };
    listener.watched = [](uint64_t, Fd, pid_t) {};
    listener.gone = [this] { gone_.set_value(true); };
    auto link = LauncherLink::Start(LauncherProgram(), std::move(listener));
    EXPECT_TRUE(link.ok()) << link.error().message;
    link_ = std::move(*link);
  }

  /// Starts a replica whose removal notes that it runs, and then does `then` in a shell.
  pid_t Start(const std::string& program, const std::string& then, uint32_t try_ms = 10'000,
              uint32_t total_ms = 30'000) {
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    LauncherLink::Replica replica;
    replica.number = 1;
    replica.directory = "/";
    replica.argv = {"sh", "-c", program};
    replica.environment = {"PATH=/usr/bin:/bin", "NOTES=" + Notes().string()};
    replica.removal = {{"sh", "-c", "echo runs >> \"$NOTES\"; " + then}, try_ms, total_ms};
    replica.out = replica.err = null.get();
    EXPECT_TRUE(link_->Launch(replica).ok());
    return Get(started_).init;
  }
  launcher::Report End() { return Get(ended_); }
  /// As when caip is killed: the kernel closes its end of the socket.
  void EndCaip() { link_.reset(); }

  static pid_t LauncherOf(pid_t init) { return StateAndParent(std::to_string(init)).second; }
  Path Notes() const { return directory_.path() / "notes"; }
  size_t Tries() const {
    const auto text = ReadFile(Notes());
    return text.ok() ? static_cast<size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
  }
  bool IsThere(const std::string& file) const {
    return std::filesystem::exists(directory_.path() / file);
  }
  /// A descriptor that is readable when the process has ended.
  static Fd Watch(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }
  static bool AwaitEnd(const Fd& process) {
    pollfd end{process.get(), POLLIN, 0};
    return ::poll(&end, 1, kPatience_ms) == 1;
  }
  /// Ends caip on a thread of its own, and returns when that waits for the launcher.
  std::future<void> BeginToEndCaip() {
    std::promise<pid_t> id;
    auto ended = std::async(std::launch::async, [&] {
      id.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
      EndCaip();
    });
    const std::string task = "self/task/" + std::to_string(id.get_future().get());
    while (StateAndParent(task).first != 'S') std::this_thread::yield();
    return ended;
  }

  template <typename Value>
  static Value Get(std::promise<Value>& promise) {
    std::future<Value> future = promise.get_future();
    if (future.wait_for(std::chrono::milliseconds(kPatience_ms)) == std::future_status::ready)
      return future.get();
    ADD_FAILURE() << "awaited a report of the launcher";
    return {};
  }

  TemporaryDirectory directory_;
  std::promise<launcher::Report> started_;
  std::promise<launcher::Report> ended_;
  std::promise<bool> gone_;
  std::unique_ptr<LauncherLink> link_;
};

constexpr char kForEver[] = "exec sleep 1000";
constexpr char kLeaveTrace[] = "touch \"$NOTES.removed\"";

TEST_F(Removals, RunBeforeTheEndOfAReplicaIsReported) {
  Start("exit 3", kLeaveTrace);
  const launcher::Report end = End();
  EXPECT_TRUE(IsThere("notes.removed"));
  EXPECT_EQ(end.is_removed, 1u);
  EXPECT_EQ(WEXITSTATUS(end.wait_status), 3);
}

TEST_F(Removals, RunAfterAKill) {
  Start(kForEver, kLeaveTrace);
  link_->Kill(1);
  EXPECT_EQ(End().is_removed, 1u);
  EXPECT_TRUE(IsThere("notes.removed"));
}

TEST_F(Removals, ThatFailAreLeftToCaipWhileItLives) {
  Start("exit 0", "exit 1");
  EXPECT_EQ(End().is_removed, 0u);
  EXPECT_EQ(Tries(), 1u);
}

TEST_F(Removals, ThatHangAreKilled) {
  Start("exit 0", "echo $$ > \"$NOTES.id\"; exec sleep 1000", 3000);
  EXPECT_EQ(End().is_removed, 0u);
  const auto id = ReadFile(Path(Notes().string() + ".id"));
  ASSERT_TRUE(id.ok());
  EXPECT_FALSE(std::filesystem::exists("/proc/" + std::string(Trim(*id))));
}

TEST_F(Removals, RunWhenCaipHasEnded) {
  Start(kForEver, kLeaveTrace);
  EndCaip();
  EXPECT_TRUE(IsThere("notes.removed")) << "the launcher ends last";
}

TEST_F(Removals, ThatFailAreRepeatedWithoutCaip) {
  Start(kForEver, std::string("[ $(wc -l < \"$NOTES\") = 3 ] || exit 1; ") + kLeaveTrace);
  EndCaip();
  EXPECT_TRUE(IsThere("notes.removed"));
  EXPECT_EQ(Tries(), 3u);
}

TEST_F(Removals, AreRepeatedForALimitedTime) {
  Start(kForEver, kForEver, 500, 3000);
  EndCaip();
  EXPECT_GT(Tries(), 1u);
}

// The next emulator on the state directory does so, and removes what is left itself.
TEST_F(Removals, ThatAnotherProcessKillsAreNotRepeated) {
  Start(kForEver, "kill -9 $$");
  EndCaip();
  EXPECT_EQ(Tries(), 1u);
}

TEST_F(Removals, RunWhenTheLauncherIsKilled) {
  const pid_t init = Start(kForEver, kLeaveTrace);
  ASSERT_EQ(::kill(LauncherOf(init), SIGKILL), 0);
  EXPECT_TRUE(Get(gone_));
  EXPECT_TRUE(IsThere("notes.removed")) << "the launcher counts as gone when its inits are";
}

TEST_F(Removals, RunWhenTheInitIsKilled) {
  ASSERT_EQ(::kill(Start(kForEver, kLeaveTrace), SIGKILL), 0);
  const launcher::Report end = End();
  EXPECT_TRUE(IsThere("notes.removed"));
  EXPECT_EQ(end.is_removed, 1u);
  EXPECT_EQ(WTERMSIG(end.wait_status), SIGKILL);
}

TEST_F(Removals, RunWhenCaipAndTheLauncherAreKilled) {
  const pid_t init = Start(kForEver, kLeaveTrace);
  const Fd process = Watch(init);
  ASSERT_EQ(::kill(init, SIGSTOP), 0);  // until both have ended
  ASSERT_EQ(::kill(LauncherOf(init), SIGKILL), 0);
  EndCaip();
  ASSERT_EQ(::kill(init, SIGCONT), 0);
  EXPECT_TRUE(AwaitEnd(process));
  EXPECT_TRUE(IsThere("notes.removed"));
}

TEST_F(Removals, RunWhenCaipAndTheInitAreKilled) {
  const pid_t init = Start(kForEver, kLeaveTrace);
  const pid_t launcher = LauncherOf(init);
  ASSERT_EQ(::kill(launcher, SIGSTOP), 0);  // until both have ended
  ASSERT_EQ(::kill(init, SIGKILL), 0);
  auto ended = BeginToEndCaip();
  ASSERT_EQ(::kill(launcher, SIGCONT), 0);
  ended.get();
  EXPECT_TRUE(IsThere("notes.removed"));
}

}  // namespace
}  // namespace caip::host
