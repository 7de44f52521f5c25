// Faults of packets between real machines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/machine/machines.h"
#include "tests/host/launch_world.h"
#include "tests/network/packet_maker.h"

namespace caip::host {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

// A program that evaluates the expressions that the test sends it. It echoes at port 2222.
constexpr char kAgent[] = R"py(
import socket, threading, time

def echo(connection):
    while data := connection.recv(100):
        connection.sendall(data)

def serve():
    while True:
        threading.Thread(target=echo, args=(server.accept()[0],), daemon=True).start()

def attempt(act, *words):
    try:
        return act(*words)
    except OSError as error:
        return type(error).__name__

def connect(host, patience=30):
    global peer
    peer = socket.create_connection((host, 2222), patience)
    peer.settimeout(30)
    return 'connected'

def exchange(text):
    peer.sendall(text.encode())
    return peer.recv(100).decode()

def exchange_time():
    begin = time.monotonic()
    exchange('x')
    return time.monotonic() - begin

def send(host, *texts):
    for text in texts:
        datagrams.sendto(text.encode(), (host, 2222))
    return 'sent'

def receive(count):
    texts = []
    while len(texts) < count:
        texts.append(attempt(datagrams.recv, 100))
        if not isinstance(texts[-1], bytes):
            return ' '.join(text.decode() for text in texts[:-1]) + ' and then ' + texts[-1]
    return ' '.join(text.decode() for text in texts)

def send_to_closed(host):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.settimeout(30)
    link.connect((host, 2223))
    link.send(b'x')
    return link.recv(1)

server = socket.create_server(('0.0.0.0', 2222))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(('0.0.0.0', 2222))
datagrams.settimeout(30)
threading.Thread(target=serve, daemon=True).start()
control = socket.create_connection(('169.254.169.254', 80))
for line in control.makefile('r'):
    try:
        answer = str(eval(line))
    except Exception as error:
        answer = repr(error)
    control.sendall((answer + '\n').encode())
)py";

/// Two machines, 10.128.0.2 and 10.128.0.3, each with an agent.
class FaultyNetworks : public ::testing::Test {
 protected:
  FaultyNetworks() {
    world_.launcher->SetEndpointHandler([this](const std::string& tag, Fd listening) {
      const std::lock_guard lock(mutex_);
      endpoints_[tag] = std::move(listening);
      changed_.notify_all();
    });
  }
  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }
  void TearDown() override { agents_.clear(); }  // the agents end with their connections

  void StartAgent(int index, int boot = 1) {
    auto launch = AShell("", AKey(index, boot));
    launch.program = run::LocalCommand{{"python3", "-c", kAgent}};
    launch.machine.host_name = "machine-" + std::to_string(index);
    launch.isolation = engine::ReplicaIsolation{network_, "10.128.0." + std::to_string(2 + index),
                                                "127.0.0.1 localhost\n"};
    world_.Launch(std::move(launch));
    agents_[index] = Accept();
  }
  void StartAgents() {
    StartAgent(0);
    StartAgent(1);
  }

  /// Returns when they are in effect.
  void Set(std::vector<PacketFault> faults) {
    const auto in_effect = Request(std::move(faults));
    ASSERT_EQ(in_effect.wait_for(kPatience), std::future_status::ready) << "awaited the faults";
  }
  std::future<void> Request(
      std::vector<PacketFault> faults,
      std::function<void(const std::string&)> failed = [](const std::string& why) {
        ADD_FAILURE() << "not set: " << why;
      }) {
    auto in_effect = std::make_shared<std::promise<void>>();
    world_.launcher->SetPacketFaults(AKey().run, std::move(faults),
                                     {[in_effect] { in_effect->set_value(); }, std::move(failed)});
    return in_effect->get_future();
  }
  /// Returns when the launcher has passed on what it was asked: it works in order.
  void AwaitLauncher() { world_.Run(AShell("", AKey(9))); }
  /// The relay of this test's launcher. Faults were set before.
  static pid_t Relay() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string id = entry.path().filename();
      const auto name = ReadFile(entry.path() / "comm");
      if (!name.ok() || *name != "caip-relay\n") continue;
      const pid_t launcher = StateAndParent(id).second;
      if (StateAndParent(std::to_string(launcher)).second == ::getpid()) return std::stoi(id);
    }
    ADD_FAILURE() << "the launcher has no child named caip-relay";
    return 0;
  }
  static std::vector<PacketFault> BothWays(PacketFault fault) {
    PacketFault back = fault;
    std::swap(back.from, back.to);
    return {fault, back};
  }

  /// The value of a Python expression in an agent.
  std::string Ask(int index, const std::string& expression) {
    const int agent = agents_[index].get();
    const std::string line = expression + "\n";
    EXPECT_EQ(::send(agent, line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
    std::string answer;
    char c = 0;
    ssize_t count = 0;
    while ((count = ::recv(agent, &c, 1, 0)) == 1 && c != '\n') answer += c;
    EXPECT_EQ(count, 1) << "the agent ended, or its connection: " << std::strerror(errno);
    return answer;
  }

 private:
  Fd Accept() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return endpoints_.contains("agents"); }))
        << "awaited the network's endpoint";
    return Fd(::accept4(endpoints_["agents"].get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"169.254.169.254", 80, "agents"}, {"10.128.0.1", 2222, "storage"}}});
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Fd> endpoints_;
  std::map<int, Fd> agents_;
  LaunchWorld world_;  // last: it calls us until it is gone
};

constexpr char kConnect[] = "attempt(connect, '10.128.0.3')";
constexpr char kConnectSoon[] = "attempt(connect, '10.128.0.3', 0.3)";

TEST_F(FaultyNetworks, CutTwoMachinesOffFromEachOtherUntilTheFaultEnds) {
  StartAgents();
  ASSERT_EQ(Ask(0, kConnect), "connected");
  Set(BothWays(FaultOf(PacketFault::kDrop)));
  EXPECT_EQ(Ask(0, kConnectSoon), "TimeoutError");
  EXPECT_EQ(Ask(1, "attempt(connect, '10.128.0.2', 0.3)"), "TimeoutError");
  Set({});
  EXPECT_EQ(Ask(0, kConnect), "connected");
  EXPECT_EQ(Ask(0, "exchange('hello')"), "hello");
}

TEST_F(FaultyNetworks, KeepConnectionsOverACut) {
  StartAgents();
  ASSERT_EQ(Ask(0, kConnect), "connected");
  Set(BothWays(FaultOf(PacketFault::kDrop)));
  EXPECT_EQ(Ask(0, "peer.send(b'during the cut')"), "14");
  Set({});
  EXPECT_EQ(Ask(0, "peer.recv(100).decode()"), "during the cut");
}

TEST_F(FaultyNetworks, CutAMachineOffFromTheHubButNotFromTheMetadataServer) {
  StartAgents();
  const std::string connect = "attempt(connect, '10.128.0.1', 0.3)";
  EXPECT_EQ(Ask(0, connect), "connected");
  PacketFault to_storage = FaultOf(PacketFault::kDrop);
  to_storage.to = At("10.128.0.1");
  Set(BothWays(to_storage));
  EXPECT_EQ(Ask(0, connect), "TimeoutError");
  EXPECT_EQ(Ask(1, connect), "connected");
  EXPECT_EQ(Ask(0, kConnect), "connected");
  Set({});
  EXPECT_EQ(Ask(0, connect), "connected");
}

// What the emulator sends takes another way through the kernel than what machines send.
TEST_F(FaultyNetworks, DelayWhatTheHubSends) {
  StartAgents();
  PacketFault delay = FaultOf(PacketFault::kDelay);
  delay.from = At("10.128.0.1");
  delay.to = At("10.128.0.2");
  delay.delay_ns = 1'000'000;
  Set({delay});
  EXPECT_EQ(Ask(0, "attempt(connect, '10.128.0.1')"), "connected");
}

TEST_F(FaultyNetworks, LoseThePacketsOfOneDirection) {
  StartAgents();
  // The kernel keeps a datagram until it knows the machine's address, and sends it then.
  EXPECT_EQ(Ask(0, "send('10.128.0.3', 'first')"), "sent");
  EXPECT_EQ(Ask(1, "receive(1)"), "first");
  Set({FaultOf(PacketFault::kDrop)});
  EXPECT_EQ(Ask(0, "send('10.128.0.3', 'lost')"), "sent");
  EXPECT_EQ(Ask(1, "send('10.128.0.2', 'back')"), "sent");
  EXPECT_EQ(Ask(0, "receive(1)"), "back");
  Set({});
  EXPECT_EQ(Ask(0, "send('10.128.0.3', 'there')"), "sent");
  EXPECT_EQ(Ask(1, "receive(1)"), "there");
}

// On a busy host, the relay may hear of a packet and of the end of the fault at once.
TEST_F(FaultyNetworks, LosePacketsThatWereSentBeforeTheFaultEnds) {
  StartAgents();
  EXPECT_EQ(Ask(0, "send('10.128.0.3', 'first')"), "sent");
  EXPECT_EQ(Ask(1, "receive(1)"), "first");
  Set({FaultOf(PacketFault::kDrop)});
  const pid_t relay = Relay();
  ASSERT_EQ(::kill(relay, SIGSTOP), 0);
  EXPECT_EQ(Ask(0, "send('10.128.0.3', 'lost')"), "sent");
  const auto ended = Request({});
  AwaitLauncher();
  ASSERT_EQ(::kill(relay, SIGCONT), 0);
  ASSERT_EQ(ended.wait_for(kPatience), std::future_status::ready) << "awaited the end";
  EXPECT_EQ(Ask(0, "send('10.128.0.3', 'there')"), "sent");
  EXPECT_EQ(Ask(1, "receive(1)"), "there");
}

TEST_F(FaultyNetworks, SayThatTheirRelayHasEnded) {
  StartAgents();
  const auto failed = std::make_shared<std::promise<std::string>>();
  auto why = failed->get_future();
  PacketFault delay = FaultOf(PacketFault::kDelay);
  delay.delay_ns = 1'000'000;
  const auto in_effect =
      Request({delay}, [failed](const std::string& text) { failed->set_value(text); });
  ASSERT_EQ(in_effect.wait_for(kPatience), std::future_status::ready) << "awaited the fault";
  EXPECT_EQ(why.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  ASSERT_EQ(::kill(Relay(), SIGKILL), 0);
  ASSERT_EQ(why.wait_for(kPatience), std::future_status::ready) << "awaited the end of the relay";
  EXPECT_THAT(why.get(), ::testing::HasSubstr("(caip-relay) was killed by signal 9"));
}

TEST_F(FaultyNetworks, LoseTheDatagramsThatTheSeedSelects) {
  StartAgents();
  PacketFaults expected;
  expected.Replace({LossOf(0.3, 7)});
  std::string sent;
  std::vector<std::string> arriving;
  for (int i = 0; i < 60; ++i) {
    sent += ", '" + std::to_string(i) + "'";
    if (expected.Decide(Seen(Datagram())).kind == PacketFate::kPasses) {
      arriving.push_back(std::to_string(i));
    }
  }
  ASSERT_LT(arriving.size(), 60u);
  Set({LossOf(0.3, 7)});
  EXPECT_EQ(Ask(0, "send('10.128.0.3'" + sent + ")"), "sent");
  std::string received;
  for (const std::string& text : arriving) received += (received.empty() ? "" : " ") + text;
  EXPECT_EQ(Ask(1, "receive(" + std::to_string(arriving.size()) + ")"), received);
}

TEST_F(FaultyNetworks, CarryConnectionsThatLosePackets) {
  StartAgents();
  ASSERT_EQ(Ask(0, kConnect), "connected");
  Set(BothWays(LossOf(0.2, 3)));
  for (int i = 0; i < 10; ++i) {
    const std::string text = std::to_string(i);
    EXPECT_EQ(Ask(0, "exchange('" + text + "')"), text);
  }
}

// A lower limit, which a slow host cannot break.
TEST_F(FaultyNetworks, DelayPackets) {
  StartAgents();
  ASSERT_EQ(Ask(0, kConnect), "connected");
  PacketFault delay = FaultOf(PacketFault::kDelay);
  delay.delay_ns = 100'000'000;
  Set(BothWays(delay));
  EXPECT_GE(std::stod(Ask(0, "exchange_time()")), 0.2);
}

TEST_F(FaultyNetworks, RefuseConnections) {
  StartAgents();
  ASSERT_EQ(Ask(0, kConnect), "connected");
  Set(BothWays(FaultOf(PacketFault::kRefuse)));
  EXPECT_EQ(Ask(0, "attempt(exchange, 'x')"), "ConnectionResetError");
  EXPECT_EQ(Ask(0, kConnect), "ConnectionRefusedError");
  EXPECT_EQ(Ask(0, "attempt(send_to_closed, '10.128.0.3')"), "ConnectionRefusedError");
  Set({});
  EXPECT_EQ(Ask(0, kConnect), "connected");
}

TEST_F(FaultyNetworks, HaveFaultsFromTheStartAndOverRestarts) {
  Set(BothWays(FaultOf(PacketFault::kDrop)));
  StartAgents();
  EXPECT_EQ(Ask(0, kConnectSoon), "TimeoutError");
  StartAgent(1, 2);
  EXPECT_EQ(Ask(0, kConnectSoon), "TimeoutError");
  Set({});
  EXPECT_EQ(Ask(0, kConnect), "connected");
}

}  // namespace
}  // namespace caip::host
