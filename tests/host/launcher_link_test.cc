#include "host/process/launcher_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "base/descriptor_limit.h"
#include "base/files.h"
#include "host/machine/run_networks.h"
#include "host/watch/call_source.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

/// A link whose thread waits in its first report until it may go on.
class BusyLink : public ::testing::Test {
 protected:
  BusyLink() {
    LauncherLink::Listener listener;
    listener.report = [this](const launcher::Report& report) {
      if (report.replica == kWatched && report.kind == launcher::Report::kEnded) {
        ended_.set_value(report.wait_status);
      }
      if (report.kind != launcher::Report::kStarted || report.replica == kWatched) return;
      init_.set_value(report.init);
      may_go_on_.get_future().wait();
    };
    listener.watched = [](uint64_t, Fd, pid_t) {};
    listener.gone = [this] { is_gone_ = true; };
    auto started = LauncherLink::Start(LauncherProgram(), std::move(listener));
    EXPECT_TRUE(started.ok()) << started.error().message;
    link_ = std::move(*started);
  }

  static constexpr uint64_t kWatched = 2;  // the number of a replica whose output is watched

  void Launch(uint64_t number) {
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    LauncherLink::Replica replica;
    replica.number = number;
    replica.directory = "/";
    replica.argv = {"/bin/sleep", "1000"};
    replica.out = replica.err = null.get();
    replica.watch = number == kWatched ? launcher::kWatchOutput : 0;
    EXPECT_TRUE(link_->Launch(replica).ok());
  }

  /// Starts a replica, and returns the launcher's process ID.
  pid_t StartReplica() {
    Launch(1);
    return StateAndParent(std::to_string(init_.get_future().get())).second;
  }

  /// Calls `act` on a new thread, and returns when that waits for something.
  static std::thread UntilItWaits(const std::function<void()>& act) {
    std::promise<pid_t> id;
    std::thread acting([&id, act] {
      id.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
      act();
    });
    const std::string task = "self/task/" + std::to_string(id.get_future().get());
    while (StateAndParent(task).first != 'S') std::this_thread::yield();
    return acting;
  }

  /// Destroys the link on a thread, and calls `meanwhile` when that waits for the link's thread.
  void Destroy(const std::function<void()>& meanwhile) {
    std::thread destroying = UntilItWaits([this] { link_.reset(); });
    meanwhile();
    destroying.join();
  }

  std::promise<pid_t> init_;
  std::promise<void> may_go_on_;
  std::promise<int> ended_;  // the wait status of kWatched
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

// A launcher that opens networks takes no commands, and goes on when its reports are received.
TEST_F(BusyLink, ReportsOfNetworksAreTakenWhileACommandWaits) {
  constexpr int kCommands = 100'000;  // more than the socket holds
  const pid_t launcher = StartReplica();
  may_go_on_.set_value();
  RunNetworks networks;
  const auto number = networks.Open(*link_, AKey().run, std::make_shared<engine::RunNetwork>());
  ASSERT_TRUE(number.ok()) << number.error().message;
  ASSERT_EQ(::kill(launcher, SIGSTOP), 0);
  std::thread filling = UntilItWaits([this] {
    for (int i = 0; i < kCommands; ++i) link_->Thaw(0);
  });
  std::thread closing = UntilItWaits([&] { networks.Close(link_.get(), AKey().run); });
  auto reported =
      std::async(std::launch::async, [&] { networks.EndpointOpened(*number, 0, Fd()); });
  EXPECT_EQ(reported.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  ::kill(launcher, SIGCONT);
  filling.join();
  closing.join();
}

TEST_F(BusyLink, AReplicaForWhoseCallsNoDescriptorIsFreeIsLostForThatReason) {
  if (const auto way = InterpositionOf(); way.kind != Interposition::Kind::kSeccomp) {
    GTEST_SKIP() << way.reason;
  }
  const pid_t launcher = StartReplica();
  may_go_on_.set_value();
  ASSERT_EQ(::kill(launcher, SIGSTOP), 0);
  Launch(kWatched);
  const uint64_t shortages = DescriptorShortages();
  auto ended = ended_.get_future();
  {
    const NoDescriptors none;
    ::kill(launcher, SIGCONT);
    ASSERT_EQ(ended.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  }
  const int status = ended.get();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_GT(DescriptorShortages(), shortages);
}

// The copy of its program is a file, too.
TEST(LauncherLink, StartsALauncherThatIsLargerThanTheLimitOfFiles) {
  std::promise<launcher::Report> reported;
  LauncherLink::Listener listener;
  listener.report = [&](const launcher::Report& report) { reported.set_value(report); };
  listener.gone = [] {};
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit lower{64u << 10, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &lower);
  const auto link = LauncherLink::Start(LauncherProgram(), std::move(listener));
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ASSERT_TRUE(link.ok()) << link.error().message;
  LauncherLink::Replica replica;
  replica.number = 1;
  replica.directory = "/";
  replica.argv = {"/nowhere/program"};
  replica.out = replica.err = STDERR_FILENO;
  ASSERT_TRUE((*link)->Launch(replica).ok());
  auto report = reported.get_future();
  ASSERT_EQ(report.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_EQ(report.get().step, launcher::Step::kExec);
}

TEST_F(BusyLink, FaultsOfANetworkThatClosesAreWaitedForByNoOne) {
  const pid_t launcher = StartReplica();
  may_go_on_.set_value();
  RunNetworks networks;
  const auto network = std::make_shared<engine::RunNetwork>();
  ASSERT_TRUE(networks.Open(*link_, AKey().run, network).ok());
  ASSERT_EQ(::kill(launcher, SIGSTOP), 0);  // it answers no more
  int answers = 0;
  networks.SetFaults(link_.get(), AKey().run, {}, {[&] { ++answers; }});
  EXPECT_EQ(answers, 0);
  networks.Close(link_.get(), AKey().run);
  EXPECT_EQ(answers, 1);
  ::kill(launcher, SIGCONT);
}

}  // namespace
}  // namespace caip::host
