// The networks of machines: their own addresses, the machines of their run, listeners and the host.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <future>

#include "host/machine/run_networks.h"
#include "host/process/launcher_link.h"
#include "tests/host/machine/machines_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A socket that listens at 127.0.0.1, and its port.
std::pair<Fd, int> ListenOnHost() {
  Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  EXPECT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
  EXPECT_EQ(::listen(listening.get(), 8), 0);
  ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&place), &size);
  return {std::move(listening), ntohs(place.sin_port)};
}

TEST_F(Machines, HaveTheirOwnDevicesAndAddress) {
  world_.Run(OnMachine("ls /sys/class/net; cat /proc/net/fib_trie | grep -c 10.128.0.2"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("eth0", "lo", ::testing::Ne("0")));
}

TEST_F(Machines, GetANetworkAfterItCouldNotBeOpened) {
  std::promise<launcher::Report> opened;
  LauncherLink::Listener listener;
  listener.report =
      listener.network = [&](const launcher::Report& report) { opened.set_value(report); };
  listener.watched = [](uint64_t, Fd, pid_t) {};
  listener.gone = [] {};
  const auto link = LauncherLink::Start(LauncherProgram(), std::move(listener));
  ASSERT_TRUE(link.ok()) << link.error().message;
  RunNetworks networks;
  {
    const NoDescriptors none;
    EXPECT_FALSE(networks.Open(**link, AKey().run, network_).ok());
  }
  const auto number = networks.Open(**link, AKey().run, network_);
  ASSERT_TRUE(number.ok()) << number.error().message;
  auto report = opened.get_future();
  ASSERT_EQ(report.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const launcher::Report found = report.get();
  EXPECT_EQ(found.kind, launcher::Report::kNetworkOpened);
  EXPECT_EQ(found.replica, *number);
}

TEST_F(Machines, HaveEveryPortFree) {
  world_.Run(
      APython("import socket\n"
              "held = [socket.create_server(('0.0.0.0', port)) for port in "
              "(22, 80, 443, 2222, 8080)]\nprint(len(held))\n"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("5"));
}

TEST_F(Machines, ReachWhatListensOnTheHostByAnAddressOfItsOwn) {
  const auto [listening, port] = ListenOnHost();
  const std::string connect =
      "import socket\nfor host in '127.0.0.1', '10.128.255.254':\n"
      "    print(socket.socket().connect_ex((host, " +
      std::to_string(port) + ")))\n";
  world_.Run(APython(connect));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre(std::to_string(ECONNREFUSED), "0"));
}

// The way to other hosts is a program, which starts with the first packet.
TEST_F(Machines, FindTheirWayToOtherHostsAgainWithAWarning) {
  const auto [listening, port] = ListenOnHost();
  world_.Launch(
      APython("import signal, socket\n"
              "def ask():\n"
              "    print(socket.socket().connect_ex(('10.128.255.254', " +
              std::to_string(port) +
              ")), flush=True)\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
              "ask()\nprint('asked', flush=True)\nsignal.sigwait({signal.SIGTERM})\nask()\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("asked"));
  const pid_t nat = FindNat();
  ASSERT_GT(nat, 0);
  ASSERT_EQ(::kill(nat, SIGKILL), 0);
  ASSERT_TRUE(world_.sink.AwaitMessage("(caip-nat) was killed by signal 9"));
  world_.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world_.AwaitExits(1).back().exit_code, 0);
  EXPECT_THAT(world_.sink.Messages("worker-replica-0"), ElementsAre("0", "asked", "0"));
  const auto warned = world_.sink.Messages("service");
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_THAT(warned.front(), HasSubstr("It is started again with the next packet."));
  EXPECT_NE(FindNat(), 0);
}

TEST_F(Machines, HaveTheResolverOfTheirNetwork) {
  auto launch = APython("print(open('/etc/resolv.conf').readline())");
  world_.Run(std::move(launch));
  if (world_.sink.Messages().empty()) GTEST_SKIP() << "this host has no /etc/resolv.conf";
  EXPECT_EQ(world_.sink.Messages().front(), "nameserver 10.128.255.253");
}

TEST(ResolverText, KeepsTheSearchListAndTheOptions) {
  EXPECT_EQ(ResolverText("# by hand\nnameserver 127.0.0.53\nsearch corp.example\noptions edns0\n"),
            "nameserver 10.128.255.253\nsearch corp.example\noptions edns0\n");
}

TEST_F(Machines, ReachTheListenersOfTheirNetwork) {
  world_.Launch(
      APython("import socket\ns = socket.create_connection(('169.254.169.254', 80))\n"
              "print(s.makefile().readline())\n"));
  const auto [fd, client] = Accept();
  EXPECT_THAT(client, HasSubstr("10.128.0.2:"));
  ASSERT_EQ(::write(fd.get(), "hello\n", 6), 6);
  world_.AwaitExits(1);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("hello"));
  EXPECT_EQ(endpoints_.front().first, "metadata");
}

TEST_F(Machines, OfARunReachEachOther) {
  world_.Launch(
      APython("import socket\ns = socket.create_server(('0.0.0.0', 2222))\n"
              "print('listens', flush=True)\nconnection, client = s.accept()\n"
              "print(client[0], connection.makefile().readline())\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("listens"));
  world_.Launch(
      APython("import socket\n"
              "socket.create_connection(('10.128.0.2', 2222)).sendall(b'from 1\\n')\n",
              AKey(1)));
  world_.AwaitExits(2);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("listens", "10.128.0.3 from 1"));
  EXPECT_EQ(EndpointCount(), 1u);
}

TEST_F(Machines, OfOtherRunsHaveTheSameAddressesAndAreOutOfReach) {
  world_.Launch(
      APython("import socket\ns = socket.create_server(('0.0.0.0', 2222))\n"
              "print('listens', flush=True)\ns.accept()\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("listens"));
  auto other = APython(
      "import socket\ns = socket.socket()\ns.settimeout(0.2)\ntry:\n"
      "  s.connect(('10.128.0.2', 2222))\nexcept OSError as e:\n  print(type(e).__name__)\n",
      AKey(1));
  other.key.run.job_id = "another";
  world_.Run(std::move(other));
  EXPECT_NE(world_.sink.Messages().back(), "listens");
  world_.launcher->Kill(AKey());
  world_.AwaitExits(2);
}

TEST_F(Machines, AreInTheSameNetworkAfterARestart) {
  world_.Run(OnMachine("exit 1"));
  world_.Run(OnMachine("hostname", AKey(0, 2)));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("cmle-training-worker-replica-0"));
  EXPECT_EQ(EndpointCount(), 1u);
  world_.launcher->Discard(AKey().run);
  world_.Run(OnMachine("exit 0", AKey(0, 3)));
  EXPECT_EQ(EndpointCount(), 2u);  // the old network has gone with its run
}

TEST_F(Machines, SayWhyANetworkCannotBeHad) {
  network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"127.0.0.1", 443, "a"}, {"127.0.0.1", 443, "b"}}});
  EXPECT_THAT(world_.Run(OnMachine("exit 0")).start_error,
              HasSubstr("listening in the network of a run: Address already in use"));
  network_ = std::make_shared<engine::RunNetwork>(engine::RunNetwork{{{"::1", 443, "a"}}});
  auto other = OnMachine("exit 0");
  other.key.run.job_id = "other";
  EXPECT_THAT(world_.Run(std::move(other)).start_error, HasSubstr("'::1'"));
}

}  // namespace
}  // namespace caip::host
