#include "host/machine/isolation.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A world whose replicas share a network with an endpoint at 169.254.169.254:80.
class Isolation : public ::testing::Test {
 protected:
  Isolation() {
    world_.launcher->SetEndpointHandler([this](const std::string& tag, Fd listening) {
      const std::lock_guard lock(mutex_);
      endpoints_.emplace_back(tag, std::move(listening));
      changed_.notify_all();
    });
  }

  void SetUp() override {
    if (const auto why_not = TryIsolation(LauncherProgram())) {
      GTEST_SKIP() << "replicas cannot have namespaces here: " << *why_not;
    }
  }

  engine::ReplicaLaunch AnIsolated(const std::string& script, engine::ReplicaKey key = AKey()) {
    auto launch = AShell(script, std::move(key));
    launch.machine.host_name = "cmle-training-" + run::Name(launch.key.replica);
    launch.isolation = engine::ReplicaIsolation{network_, "127.0.0.1 localhost\n9.8.7.6 served\n"};
    return launch;
  }
  engine::ReplicaLaunch APython(const std::string& source, engine::ReplicaKey key = AKey()) {
    auto launch = AnIsolated("", std::move(key));
    launch.program = run::LocalCommand{{"python3", "-c", source}};
    return launch;
  }

  /// Accepts at the first endpoint; answers the connection and the client's address.
  std::pair<Fd, std::string> Accept() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return !endpoints_.empty();
    })) << "awaited an endpoint";
    if (endpoints_.empty()) return {};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    Fd fd(::accept4(endpoints_.front().second.get(), reinterpret_cast<sockaddr*>(&from), &size,
                    SOCK_CLOEXEC));
    char address[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &from.sin_addr, address, sizeof address);
    return {std::move(fd), std::string(address) + ":" + std::to_string(ntohs(from.sin_port))};
  }
  size_t EndpointCount() {
    const std::lock_guard lock(mutex_);
    return endpoints_.size();
  }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"169.254.169.254", 80, "metadata"}}});
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, Fd>> endpoints_;
  LaunchWorld world_;  // last: it calls us until it is gone
};

TEST_F(Isolation, GivesAReplicaItsHostNameAndItsHostsFile) {
  char name_before[256] = {};
  ::gethostname(name_before, sizeof name_before - 1);
  world_.Run(AnIsolated("hostname; cat /etc/hosts; getent ahostsv4 served | head -n 1"));
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("cmle-training-worker-replica-0", "127.0.0.1 localhost", "9.8.7.6 served",
                          HasSubstr("9.8.7.6")));
  char name_after[256] = {};
  ::gethostname(name_after, sizeof name_after - 1);
  EXPECT_STREQ(name_before, name_after);
  EXPECT_EQ(ReadFile("/etc/hosts")->find("9.8.7.6"), std::string::npos);
}

TEST_F(Isolation, GivesAReplicaOtherFilesInThePlaceOfTheHosts) {
  const TemporaryDirectory directory("caip-cover-");
  const Path covered = directory.path() / "ca-certificates.crt";
  const Path bundle = directory.path() / "bundle.pem";
  ASSERT_TRUE(WriteFile(covered, "the host's\n").ok());
  ASSERT_TRUE(WriteFile(bundle, "caip's and the host's\n").ok());
  auto launch = AnIsolated("cat " + covered.string());
  launch.isolation->covers = {{bundle.string(), covered.string()}};
  world_.Run(std::move(launch));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("caip's and the host's"));
  EXPECT_EQ(*ReadFile(covered), "the host's\n");
}

TEST_F(Isolation, LeavesTheUserWhoTheyAreWithoutNewRights) {
  const std::string who = std::to_string(::getuid()) + " " + std::to_string(::getgid());
  const std::string rights = ::geteuid() == 0 ? "" : "CapEff:\t0000000000000000";
  world_.Run(AnIsolated("echo $(id -u) $(id -g); grep CapEff /proc/self/status"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre(who, HasSubstr(rights)));
}

TEST_F(Isolation, HasNoWayToWhatListensOnTheHost) {
  const Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&place), &size);
  const std::string connect = "import socket\nprint(socket.socket().connect_ex(('127.0.0.1', " +
                              std::to_string(ntohs(place.sin_port)) + ")))\n";
  world_.Run(APython(connect));
  auto outside = APython(connect, AKey(0, 2));
  outside.isolation.reset();
  world_.Run(std::move(outside));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre(std::to_string(ECONNREFUSED), "0"));
}

TEST_F(Isolation, LeadsThroughADoorToWhoeverServesIt) {
  world_.Launch(
      APython("import socket\ns = socket.create_connection(('169.254.169.254', 80))\n"
              "print(s.makefile().readline())\n"));
  const auto [fd, client] = Accept();
  EXPECT_THAT(client, HasSubstr("169.254.169.254:"));
  ASSERT_EQ(::write(fd.get(), "hello\n", 6), 6);
  world_.AwaitExits(1);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("hello"));
  EXPECT_EQ(endpoints_.front().first, "metadata");
}

TEST_F(Isolation, ReplicasOfARunReachEachOther) {
  world_.Launch(APython(
      "import socket\ns = socket.create_server(('127.7.7.2', 2222))\nprint('listens', flush=True)\n"
      "print(s.accept()[0].makefile().readline())\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("listens"));
  world_.Launch(
      APython("import socket\n"
              "socket.create_connection(('127.7.7.2', 2222)).sendall(b'from 1\\n')\n",
              AKey(1)));
  world_.AwaitExits(2);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("listens", "from 1"));
  EXPECT_EQ(EndpointCount(), 1u);
}

TEST_F(Isolation, TellsWhichReplicaHasTheOtherEnd) {
  const std::string waits =
      "import os, socket, subprocess, sys\n"
      "s = socket.create_connection(('169.254.169.254', 80))\ns.recv(1)\n";
  world_.Launch(APython(waits));
  const auto first = Accept();
  // The second is a program that was started without any environment.
  auto launch = APython(waits, AKey(1));
  std::vector<std::string>& words = std::get<run::LocalCommand>(launch.program).words;
  words.insert(words.begin(), {"/bin/sh", "-c", "env -i \"$0\" \"$@\"; exit $?"});
  world_.Launch(std::move(launch));
  const auto second = Accept();
  EXPECT_EQ(world_.launcher->TaskOfClient(AKey().run, first.second), "worker-replica-0");
  EXPECT_EQ(world_.launcher->TaskOfClient(AKey().run, second.second), "worker-replica-1");
  EXPECT_EQ(world_.launcher->TaskOfClient({"my-project", "other", ""}, first.second), "");
  EXPECT_EQ(world_.launcher->TaskOfClient(AKey().run, "169.254.169.254:1"), "");
}

TEST_F(Isolation, ARestartIsInTheSameNetwork) {
  world_.Run(AnIsolated("exit 1"));
  world_.Run(AnIsolated("hostname", AKey(0, 2)));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("cmle-training-worker-replica-0"));
  EXPECT_EQ(EndpointCount(), 1u);
  world_.launcher->Discard(AKey().run);
  world_.Run(AnIsolated("exit 0", AKey(0, 3)));
  EXPECT_EQ(EndpointCount(), 2u);  // the old network has gone with its run
}

TEST_F(Isolation, IsMadeAnewWhenTheLauncherHasBeenKilled) {
  world_.Launch(AnIsolated("awk '{print $4}' /proc/$PPID/stat; sleep 600"));
  ASSERT_TRUE(world_.sink.AwaitMessage(""));
  ::kill(std::stoi(world_.sink.Messages().at(0)), SIGKILL);  // caip-launcher
  EXPECT_EQ(world_.AwaitExits(1).back().signal, SIGKILL);
  world_.Run(AnIsolated("hostname", AKey(0, 2)));
  EXPECT_EQ(world_.sink.Messages().back(), "cmle-training-worker-replica-0");
  EXPECT_EQ(EndpointCount(), 2u);
}

TEST_F(Isolation, SaysWhyANetworkCannotBeHad) {
  network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"127.0.0.1", 443, "a"}, {"127.0.0.1", 443, "b"}}});
  EXPECT_THAT(world_.Run(AnIsolated("exit 0")).start_error,
              HasSubstr("listening in a network namespace: Address already in use"));
  network_ = std::make_shared<engine::RunNetwork>(engine::RunNetwork{{{"::1", 443, "a"}}});
  auto other = AnIsolated("exit 0");
  other.key.run.job_id = "other";
  EXPECT_THAT(world_.Run(std::move(other)).start_error, HasSubstr("'::1'"));
}

TEST_F(Isolation, KillsReachWhatWasStartedThere) {
  world_.Launch(AnIsolated("setsid sleep 600 & echo ready; wait"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  world_.launcher->Kill(AKey());
  EXPECT_EQ(world_.AwaitExits(1).back().signal, SIGKILL);
}

/// Lets everything go on, and counts.
class CountingWatcher final : public ReplicaWatcher {
 public:
  Answer OutputSeen(const engine::ReplicaKey&) override {
    ++outputs;
    return Answer::kGoOn;
  }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation&, int) override { return {}; }
  void Gone(const engine::ReplicaKey&) override {}
  std::atomic<int> outputs = 0;
};

class WatchedIsolation : public Isolation {
 protected:
  engine::ReplicaExit RunWatched(Interposition::Kind interposition) {
    LaunchWorld world({}, interposition);
    world.launcher->Watch({.output = true}, watcher_);
    const auto exit = world.Run(AnIsolated("echo one; echo two"));
    messages_ = world.sink.Messages();
    return exit;
  }
  CountingWatcher watcher_;
  std::vector<std::string> messages_;
};

TEST_F(WatchedIsolation, WaitsAtItsCallsAsAnyOther) {
  if (InterpositionOf().kind != Interposition::Kind::kSeccomp) {
    GTEST_SKIP() << "no seccomp notification: " << InterpositionOf().reason;
  }
  EXPECT_EQ(RunWatched(Interposition::Kind::kSeccomp).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

TEST_F(WatchedIsolation, IsRefusedWhereWatchingTakesASocketOfTheHosts) {
  EXPECT_THAT(RunWatched(Interposition::Kind::kPreload).start_error,
              HasSubstr("by seccomp notification only"));
}

TEST(TryIsolation, TellsWhyNot) {
  EXPECT_THAT(TryIsolation("/nowhere/caip-launcher").value_or(""), HasSubstr("caip-launcher"));
}

}  // namespace
}  // namespace caip::host
