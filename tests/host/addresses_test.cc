#include "host/machine/addresses.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "tests/support/own_network.h"

namespace caip::host {
namespace {

using engine::RunKey;
using testing::Each;
using testing::EndsWith;
using testing::StartsWith;

// A lender claims its block for the whole host, and other tests run at the same time: each test has
// seeds of its own.
const RunKey kRun{"p", "job", ""};
const RunKey kOther{"p", "other", ""};

std::set<std::string> BlocksOf(const std::vector<std::string>& addresses) {
  std::set<std::string> blocks;
  for (const std::string& address : addresses) blocks.insert(address.substr(0, address.rfind('.')));
  return blocks;
}

Fd ListenOn(const std::string& ip, int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 1), 0);
  return socket;
}

TEST(BlockOf, ReadsOnlyAddressesOfThisLender) {
  EXPECT_EQ(BlockOf("127.3.4.2:2222"), (LoopbackBlock{3, 4}));
  EXPECT_EQ(BlockOf("127.0.2.251:2222"), (LoopbackBlock{0, 2}));
  for (const char* address :
       {"127.3.4.2:2223", "127.3.4.2", "128.3.4.2:2222", "127.3.4:2222", "127.3.4.256:2222",
        "127.3.4.1:2222", "127.3.4.252:2222", "127.0.0.5:2222", "127.0.1.5:2222",
        "127.0.53.53:2222", "127.3.x.5:2222", "127.-3.4.5:2222", "localhost:2222", ""}) {
    EXPECT_EQ(BlockOf(address), std::nullopt) << address;
  }
}

TEST(LoopbackAddresses, GiveEachReplicaItsOwnAndAllThePort2222) {
  LoopbackAddresses lender{Random(21)};
  const auto addresses = lender.Lend(kRun, 5, {});
  ASSERT_TRUE(addresses.ok()) << addresses.error().message;
  EXPECT_THAT(*addresses, Each(EndsWith(":2222")));
  EXPECT_EQ(std::set<std::string>(addresses->begin(), addresses->end()).size(), 5u);
  EXPECT_EQ(BlocksOf(*addresses).size(), 1u);
}

TEST(LoopbackAddresses, OfManyReplicasTakeSeveralBlocks) {
  LoopbackAddresses lender{Random(22)};
  const auto addresses = lender.Lend(kRun, 601, {});
  ASSERT_TRUE(addresses.ok()) << addresses.error().message;
  EXPECT_EQ(std::set<std::string>(addresses->begin(), addresses->end()).size(), 601u);
  EXPECT_EQ(BlocksOf(*addresses).size(), 3u);
}

TEST(LoopbackAddresses, OfTwoEmulatorsWithTheSameSeedDiffer) {
  LoopbackAddresses mine{Random(7)};
  LoopbackAddresses theirs{Random(7)};
  for (int i = 0; i < 20; ++i) {
    const RunKey run{"p", "job_" + std::to_string(i), ""};
    EXPECT_NE(BlocksOf(*mine.Lend(run, 3, {})), BlocksOf(*theirs.Lend(run, 3, {})));
  }
}

TEST(LoopbackAddresses, WithTheSameSeedAndNobodyElseAreTheSame) {
  const auto lend = [] { return *LoopbackAddresses{Random(3)}.Lend(kRun, 2, {}); };
  EXPECT_EQ(lend(), lend());
}

TEST(LoopbackAddresses, AreKeptOverARestartWhenTheyAreFree) {
  std::vector<std::string> first;
  {
    LoopbackAddresses before{Random(23)};
    first = *before.Lend(kRun, 3, {});
  }
  LoopbackAddresses after{Random(98)};
  EXPECT_EQ(*after.Lend(kRun, 3, first), first);
}

TEST(LoopbackAddresses, AreNewWhereSomebodyElseHoldsTheOldOnes) {
  LoopbackAddresses before{Random(24)};
  const auto first = *before.Lend(kRun, 3, {});
  LoopbackAddresses after{Random(99)};
  const auto second = after.Lend(kRun, 3, first);
  ASSERT_TRUE(second.ok());
  EXPECT_NE(BlocksOf(*second), BlocksOf(first));
  EXPECT_NE(*after.Lend(kOther, 1, {"10.0.0.1:2222"}), std::vector<std::string>{"10.0.0.1:2222"});
  EXPECT_EQ(after.Lend(kOther, 2, first)->size(), 2u);  // the cluster has another size now
}

TEST(LoopbackAddresses, AvoidABlockWhereAProgramListens) {
  std::vector<std::string> first;
  {
    LoopbackAddresses lender{Random(5)};
    first = *lender.Lend(kRun, 3, {});
  }
  const Fd busy = ListenOn(first[1].substr(0, first[1].find(':')), kTaskPort);
  LoopbackAddresses lender{Random(5)};
  EXPECT_NE(BlocksOf(*lender.Lend(kRun, 3, {})), BlocksOf(first));
  EXPECT_NE(*lender.Lend(kOther, 3, first), first);
}

TEST(LoopbackAddresses, MayBeLentAgainWhenReleased) {
  LoopbackAddresses lender{Random(25)};
  const auto first = *lender.Lend(kRun, 2, {});
  EXPECT_NE(*lender.Lend(kOther, 2, first), first);
  lender.Release(kRun);
  EXPECT_EQ(*lender.Lend(kOther, 2, first), first);
}

int RefuseWhereThePortIsTaken() {
  const Fd everywhere = ListenOn("0.0.0.0", kTaskPort);
  LoopbackAddresses lender{Random(26)};
  const auto addresses = lender.Lend(kRun, 1, {});
  const bool as_expected =
      !addresses.ok() && addresses.error().code == Code::kResourceExhausted &&
      addresses.error().message.find("--addressing=ports") != std::string::npos;
  return as_expected ? 0 : 1;
}

TEST(LoopbackAddresses, SayWhatStandsInTheWayOfAllOfThem) {
  const auto code = RunInOwnNetwork(RefuseWhereThePortIsTaken);
  if (!code) GTEST_SKIP() << "no network namespaces here";
  EXPECT_EQ(*code, 0);
}

class AddressLog final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine> lines) override {
    for (engine::LogLine& line : lines) written.push_back(std::move(line));
  }
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
  std::vector<engine::LogLine> written;
};

// In a network of its own: ports with a warning while port 2222 is taken everywhere, also after a
// restart, and addresses again afterwards.
int LendWhereThePortIsTaken() {
  AddressLog log;
  SystemClock clock;
  LoopbackElsePorts lender(Random(27), log, clock);
  Fd everywhere = ListenOn("0.0.0.0", kTaskPort);
  const auto ports = lender.Lend(kRun, 2, {});
  if (!ports.ok() || !(*ports)[1].starts_with("localhost:")) return 1;
  if (log.written.size() != 1 || log.written[0].run != kRun) return 2;
  if (log.written[0].severity != engine::Severity::kWarning) return 3;
  if (log.written[0].message.find("port 2222 of all addresses") == std::string::npos) return 4;
  LoopbackElsePorts after(Random(2), log, clock);
  lender.Release(kRun);
  if (*after.Lend(kRun, 2, *ports) != *ports) return 5;
  everywhere = Fd();
  const auto addresses = lender.Lend(kOther, 2, {});
  return addresses.ok() && (*addresses)[0].ends_with(":2222") && log.written.size() == 1 ? 0 : 6;
}

TEST(LoopbackElsePorts, LendsPortsWithAWarningWhileAProgramHasThePort) {
  const auto code = RunInOwnNetwork(LendWhereThePortIsTaken);
  if (!code) GTEST_SKIP() << "no network namespaces here";
  EXPECT_EQ(*code, 0);
}

TEST(PortAddresses, AreDistinctPortsOfLocalhostAcrossEmulators) {
  PortAddresses mine{Random(7)};
  PortAddresses theirs{Random(7)};
  const auto a = *mine.Lend(kRun, 20, {});
  const auto b = *theirs.Lend(kRun, 20, {});
  EXPECT_THAT(a, Each(StartsWith("localhost:")));
  std::set<std::string> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  EXPECT_EQ(all.size(), 40u);
}

TEST(PortAddresses, AreKeptOverARestartWhenTheyAreFree) {
  std::vector<std::string> first;
  {
    PortAddresses before{Random(28)};
    first = *before.Lend(kRun, 3, {});
  }
  PortAddresses after{Random(2)};
  EXPECT_EQ(*after.Lend(kRun, 3, first), first);
  EXPECT_NE(*after.Lend(kOther, 3, first), first);
  EXPECT_NE(*after.Lend(kOther, 1, {"localhost:80"}), std::vector<std::string>{"localhost:80"});
}

TEST(MachineAddresses, AreThoseOfTheRunsOwnNetwork) {
  MachineAddresses lender;
  EXPECT_THAT(*lender.Lend(kRun, 2, {}),
              ::testing::ElementsAre("10.128.0.2:2222", "10.128.0.3:2222"));
  EXPECT_EQ(*lender.Lend(kOther, 2, {}),
            *lender.Lend(kRun, 2, {"127.1.2.3:2222", "127.1.2.4:2222"}));
  EXPECT_EQ(lender.Lend(kRun, 300, {})->back(), "10.128.1.45:2222");
}

}  // namespace
}  // namespace caip::host
