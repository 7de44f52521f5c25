// Faults of the network as faults of packets.

#include "emulator/scenario/network_faults.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace caip::scenario {
namespace {

using harness::NetworkFault;
using ::testing::IsEmpty;

/// Keeps the faults that it was given last.
class KeptFaults final : public host::DisturbsNetworks {
 public:
  void SetPacketFaults(const engine::RunKey&, std::vector<host::PacketFault> given,
                       host::NetworkListener listener) override {
    faults = std::move(given);
    if (listener.in_effect) listener.in_effect();
  }
  std::vector<host::PacketFault> faults;
};

engine::ReplicaLaunch LaunchOfMaster() {
  engine::ReplicaLaunch launch;
  launch.key = {{"p", "j", ""}, {"master", 0}, 1};
  launch.isolation = engine::ReplicaIsolation{
      std::make_shared<engine::RunNetwork>(engine::RunNetwork{{{"169.254.169.254", 80, "t"},
                                                               {"10.128.0.1", 80, "t"},
                                                               {"10.128.0.1", 443, "t"},
                                                               {"10.128.0.1", 4321, "t"}}}),
      "10.128.0.2", ""};
  return launch;
}

/// "10.128.0.2 -> 10.128.0.1"; a port follows its address after a colon.
std::string WayOf(const host::PacketFault& fault) {
  const auto place = [](uint32_t address, uint16_t port) {
    const std::string text = ::inet_ntoa(in_addr{address});
    return port == 0 ? text : text + ":" + std::to_string(ntohs(port));
  };
  return place(fault.from, fault.from_port) + " -> " + place(fault.to, fault.to_port);
}

class NetworkFaultsTest : public ::testing::Test {
 protected:
  std::vector<std::string> WaysOf(const NetworkFault& fault) {
    networks_.Begin(fault);
    std::vector<std::string> ways;
    for (const host::PacketFault& one : kept_.faults) ways.push_back(WayOf(one));
    return ways;
  }
  KeptFaults kept_;
  NetworkFaults networks_{kept_, "10.128.0.1", "10.128.255.254"};
};

// The port of the emulator at the address of this host leads to storage, too. Other ports of this
// host are those of other programs.
TEST_F(NetworkFaultsTest, OfStorageAreOnBothWaysToIt) {
  networks_.Learn(LaunchOfMaster());
  EXPECT_THAT(WaysOf({.replica = "master-0", .peer = "storage"}),
              ::testing::ElementsAre("10.128.0.2 -> 10.128.0.1", "10.128.0.1 -> 10.128.0.2",
                                     "10.128.0.2 -> 10.128.255.254:4321",
                                     "10.128.255.254:4321 -> 10.128.0.2"));
}

TEST_F(NetworkFaultsTest, HaveNumbersOfTheirOwnOnEachWay) {
  networks_.Learn(LaunchOfMaster());
  networks_.Begin({.replica = "master-0", .peer = "storage"});
  networks_.Begin({.replica = "master-0", .peer = "storage"});
  std::set<uint64_t> numbers;
  for (const host::PacketFault& one : kept_.faults) numbers.insert(one.number);
  EXPECT_EQ(numbers.size(), 8u);
}

TEST_F(NetworkFaultsTest, EndOnBothWays) {
  networks_.Learn(LaunchOfMaster());
  const uint64_t number = networks_.Begin({.replica = "master-0", .peer = "storage"});
  networks_.End(number);
  EXPECT_THAT(kept_.faults, IsEmpty());
}

TEST_F(NetworkFaultsTest, OfOneDirectionAreInThatDirectionOnly) {
  networks_.Learn(LaunchOfMaster());
  EXPECT_THAT(
      WaysOf({.kind = NetworkFault::Kind::kDrop, .replica = "master-0", .peer = "storage"}),
      ::testing::ElementsAre("10.128.0.2 -> 10.128.0.1", "10.128.0.2 -> 10.128.255.254:4321"));
}

}  // namespace
}  // namespace caip::scenario
