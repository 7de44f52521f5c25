#include "host/process/launcher_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "base/files.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

/// The fields of /proc/PATH/stat after the name: the state, the parent's process ID.
std::pair<char, pid_t> StateAndParent(const std::string& path) {
  const auto stat = ReadFile("/proc/" + path + "/stat");
  if (!stat.ok()) return {};
  const std::string fields = stat->substr(stat->rfind(')') + 2);
  return {fields.front(), std::stoi(fields.substr(2))};
}

/// A link whose thread waits in its first report until it may go on.
class BusyLink : public ::testing::Test {
 protected:
  BusyLink() {
    LauncherLink::Listener listener;
    listener.report = [this](const launcher::Report& report) {
      if (report.kind != launcher::Report::kStarted) return;
      init_.set_value(report.init);
      may_go_on_.get_future().wait();
    };
    listener.watched = [](uint64_t, Fd, pid_t) {};
    listener.gone = [this] { is_gone_ = true; };
    auto started = LauncherLink::Start(LauncherProgram(), std::move(listener));
    EXPECT_TRUE(started.ok()) << started.error().message;
    link_ = std::move(*started);
  }

  /// Starts a replica, and returns the launcher's process ID.
  pid_t StartReplica() {
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    LauncherLink::Replica replica;
    replica.number = 1;
    replica.directory = "/";
    replica.argv = {"/bin/sleep", "1000"};
    replica.out = replica.err = null.get();
    EXPECT_TRUE(link_->Launch(replica).ok());
    return StateAndParent(std::to_string(init_.get_future().get())).second;
  }

  /// Destroys the link on a thread, and calls `meanwhile` when that waits for the link's thread.
  void Destroy(const std::function<void()>& meanwhile) {
    std::promise<pid_t> id;
    std::thread destroying([&] {
      id.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
      link_.reset();
    });
    const std::string task = "self/task/" + std::to_string(id.get_future().get());
    while (StateAndParent(task).first != 'S') std::this_thread::yield();
    meanwhile();
    destroying.join();
  }

  std::promise<pid_t> init_;
  std::promise<void> may_go_on_;
  std::atomic<bool> is_gone_{false};
  std::unique_ptr<LauncherLink> link_;
};

TEST_F(BusyLink, ReportsTheDeathOfTheLauncherAlsoWhenItIsDestroyedFirst) {
  const pid_t launcher = StartReplica();
  ASSERT_EQ(::kill(launcher, SIGKILL), 0);
  while (link_->IsAlive()) std::this_thread::yield();
  Destroy([this] { may_go_on_.set_value(); });
  EXPECT_TRUE(is_gone_) << "the replicas would never end";
}

TEST_F(BusyLink, DoesNotReportTheEndOfTheLauncherThatItEnds) {
  StartReplica();
  Destroy([this] { may_go_on_.set_value(); });
  EXPECT_FALSE(is_gone_);
}

}  // namespace
}  // namespace caip::host
