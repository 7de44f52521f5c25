#pragma once
// The faults of the network of a run: replicas become addresses, and faults become those of
// packets.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "harness/faults/network_fault.h"
#include "host/abilities.h"

namespace caip::scenario {

/// Any thread. `networks` must outlive it.
class NetworkFaults {
 public:
  /// `storage`: the address of the emulator in each network. `host`: that of this host's 127.0.0.1
  /// there, at which the emulator's port leads to storage, too.
  NetworkFaults(host::DisturbsNetworks& networks, std::string storage, std::string host)
      : networks_(networks), storage_(std::move(storage)), host_(std::move(host)) {}

  /// Learns the addresses of the replica and of its peers, and gives their network its faults. Call
  /// it before each launch.
  void Learn(const engine::ReplicaLaunch& launch);

  /// Returns when the fault is in effect, with its number.
  uint64_t Begin(const harness::NetworkFault& fault);
  /// Returns when packets pass as before.
  void End(uint64_t number);

  /// Why a fault could not be injected; "" if all could.
  std::string failure() const;

 private:
  struct Place {
    engine::RunKey run;
    std::string address;
  };
  std::vector<host::PacketFault> FaultsOf(const engine::RunKey& run) const;
  bool IsIn(const harness::NetworkFault& fault, const engine::RunKey& run) const;
  std::string AddressOf(const std::string& replica) const;
  void LearnPort(const engine::RunNetwork& network);
  void Apply(const harness::NetworkFault& fault);
  void Give(const engine::RunKey& run, std::function<void()> in_effect);

  host::DisturbsNetworks& networks_;
  const std::string storage_;
  const std::string host_;
  std::mutex order_;  // the newest faults are given last
  mutable std::mutex mutex_;
  std::map<std::string, Place> places_;               // by replica: "master-0/2"
  std::map<uint64_t, harness::NetworkFault> active_;  // by number
  uint64_t last_number_ = 0;
  uint16_t port_ = 0;  // of the emulator; 0: not known yet
  std::string failure_;
};

}  // namespace caip::scenario
