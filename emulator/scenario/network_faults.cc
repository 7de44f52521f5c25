#include "emulator/scenario/network_faults.h"

#include <arpa/inet.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "harness/events/replica_name.h"
#include "host/machine/machines.h"

namespace caip::scenario {
namespace {

using harness::NetworkFault;
using host::PacketFault;

constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;
constexpr auto kFaultPatience = std::chrono::seconds(10);
constexpr char kNotConfirmed[] = "the launcher did not confirm it within 10 s";

PacketFault::Kind PacketKindOf(NetworkFault::Kind kind) {
  switch (kind) {
    case NetworkFault::Kind::kLoss:
      return PacketFault::kLose;
    case NetworkFault::Kind::kDelay:
      return PacketFault::kDelay;
    case NetworkFault::Kind::kRefused:
      return PacketFault::kRefuse;
    default:
      return PacketFault::kDrop;
  }
}

constexpr uint64_t kWays = 2;  // to storage: by the emulator's address, and by this host's

struct Peer {
  uint32_t address = 0;  // in network byte order
  uint16_t port = 0;     // the same; 0: every port
};

// The faults of packets from the replica and, unless only these are concerned, of those to it.
// `number` is another one for each way.
void AddFaults(const NetworkFault& fault, uint64_t number, uint32_t replica, const Peer& peer,
               std::vector<PacketFault>& faults) {
  PacketFault there;
  there.kind = PacketKindOf(fault.kind);
  there.from = replica;
  there.to = peer.address;
  there.to_port = peer.port;
  there.number = 2 * number;
  there.seed = fault.seed;
  there.fraction = fault.fraction;
  there.delay_ns = std::chrono::nanoseconds(fault.by).count();
  faults.push_back(there);
  if (fault.kind == NetworkFault::Kind::kDrop) return;
  PacketFault back = there;
  std::swap(back.from, back.to);
  std::swap(back.from_port, back.to_port);
  back.number = 2 * number + 1;
  back.seed = ~fault.seed;  // the two directions lose different packets
  faults.push_back(back);
}

}  // namespace

void NetworkFaults::Learn(const engine::ReplicaLaunch& launch) {
  if (!launch.isolation) return;
  const std::lock_guard order(order_);
  {
    const std::lock_guard lock(mutex_);
    for (const engine::ReplicaPeer& peer : launch.machine.peers) {
      const std::string name =
          harness::ReplicaNameOf({launch.key.run, peer.replica, launch.key.boot});
      places_[name] = {launch.key.run, peer.host};
    }
    if (launch.isolation->network) LearnPort(*launch.isolation->network);
    places_[harness::ReplicaNameOf(launch.key)] = {launch.key.run, launch.isolation->address};
    if (active_.empty()) return;
  }
  Give(launch.key.run, {});
}

// Mutex held. The emulator also serves Google's names, at the ports of http and https, which are
// those of other programs on this host.
void NetworkFaults::LearnPort(const engine::RunNetwork& network) {
  for (const engine::RunNetwork::Endpoint& endpoint : network.endpoints) {
    const bool is_own = endpoint.port != kHttpPort && endpoint.port != kHttpsPort;
    if (is_own && endpoint.address == storage_) port_ = endpoint.port;
  }
}

uint64_t NetworkFaults::Begin(const NetworkFault& fault) {
  const std::lock_guard order(order_);
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_number_;
    active_[number] = fault;
  }
  Apply(fault);
  return number;
}

void NetworkFaults::End(uint64_t number) {
  const std::lock_guard order(order_);
  NetworkFault fault;
  {
    const std::lock_guard lock(mutex_);
    const auto found = active_.extract(number);
    if (found.empty()) return;
    fault = found.mapped();
  }
  Apply(fault);
}

// A replica that was never launched gets its faults before its launch.
void NetworkFaults::Apply(const NetworkFault& fault) {
  engine::RunKey run;
  {
    const std::lock_guard lock(mutex_);
    const auto place = places_.find(fault.replica);
    if (place == places_.end()) return;
    run = place->second.run;
  }
  std::future<void> done;
  {
    auto in_effect = std::make_shared<std::promise<void>>();
    done = in_effect->get_future();
    Give(run, [in_effect = std::move(in_effect)] { in_effect->set_value(); });
  }
  if (done.wait_for(kFaultPatience) == std::future_status::ready) return;
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = kNotConfirmed;
}

void NetworkFaults::Give(const engine::RunKey& run, std::function<void()> in_effect) {
  std::vector<PacketFault> faults;
  {
    const std::lock_guard lock(mutex_);
    faults = FaultsOf(run);
  }
  networks_.SetPacketFaults(run, std::move(faults),
                            {std::move(in_effect), [this](const std::string& why) {
                               const std::lock_guard lock(mutex_);
                               if (failure_.empty()) failure_ = why;
                             }});
}

// Mutex held.
std::vector<PacketFault> NetworkFaults::FaultsOf(const engine::RunKey& run) const {
  std::vector<PacketFault> faults;
  for (const auto& [number, fault] : active_) {
    if (!IsIn(fault, run)) continue;
    const auto replica = host::AddressNumber(AddressOf(fault.replica));
    const auto peer = host::AddressNumber(AddressOf(fault.peer));
    if (!replica.ok() || !peer.ok()) continue;
    AddFaults(fault, kWays * number, *replica, {*peer}, faults);
    const auto host = host::AddressNumber(host_);
    if (fault.peer != harness::kStoragePeer || port_ == 0 || !host.ok()) continue;
    AddFaults(fault, kWays * number + 1, *replica, {*host, htons(port_)}, faults);
  }
  return faults;
}

// Mutex held.
bool NetworkFaults::IsIn(const NetworkFault& fault, const engine::RunKey& run) const {
  const auto place = places_.find(fault.replica);
  return place != places_.end() && place->second.run == run;
}

// Mutex held.
std::string NetworkFaults::AddressOf(const std::string& replica) const {
  if (replica == harness::kStoragePeer) return storage_;
  const auto place = places_.find(replica);
  return place == places_.end() ? "" : place->second.address;
}

std::string NetworkFaults::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace caip::scenario
