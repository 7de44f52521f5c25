#pragma once
// The networks of runs that caip-launcher has opened, and their faults.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "host/abilities.h"
#include "host/network/packet_faults.h"
#include "host/process/launcher_link.h"

namespace caip::host {

/// The networks that one launcher has opened. One thread opens and closes them and sets their
/// faults. The launcher link's thread receives the reports.
class RunNetworks {
 public:
  void SetEndpointHandler(EndpointHandler handler) { handler_ = std::move(handler); }

  /// The number of the run's network. Opens the network first, with its faults, if it does not
  /// exist.
  Result<uint64_t> Open(LauncherLink& link, const engine::RunKey& run,
                        const std::shared_ptr<const engine::RunNetwork>& network);
  /// Opens the network of the launch's run, and makes the launch's machine there.
  Status Link(LauncherLink& link, const engine::ReplicaLaunch& launch,
              LauncherLink::Replica& replica);
  /// Opens the network of a run, and makes machines for the next launches at these addresses.
  void LinkAhead(LauncherLink& link, const engine::RunKey& run,
                 const std::shared_ptr<const engine::RunNetwork>& network,
                 const std::vector<std::string>& addresses);
  /// As DisturbsNetworks. A network without a link gets its faults when it is opened.
  void SetFaults(LauncherLink* link, const engine::RunKey& run, std::vector<PacketFault> faults,
                 NetworkListener listener);
  void Close(LauncherLink* link, const engine::RunKey& run);
  /// Forgets all networks, because they ended with the launcher. Runs keep their faults.
  void Forget();

  // Called on the link's thread.
  void EndpointOpened(uint64_t number, uint32_t endpoint, Fd listening);
  /// Of kFaultsSet and kRelayLost.
  void FaultsSet(const launcher::Report& report);
  /// The run of a network; nullopt: it has been closed.
  std::optional<engine::RunKey> RunOf(uint64_t number);

 private:
  struct Opened {
    engine::RunKey run;
    std::shared_ptr<const engine::RunNetwork> network;
    std::function<void(const std::string& why)> failed = {};  // of its newest faults
  };
  struct Wanted {
    std::vector<PacketFault> faults;
    NetworkListener listener;
  };
  struct Asked {
    uint64_t network = 0;
    NetworkListener listener;
  };
  void Send(LauncherLink& link, uint64_t number, Wanted& wanted);
  uint64_t NumberOf(const engine::RunKey& run);
  void RelayLost(const launcher::Report& report);
  void Finish(uint64_t request, const std::string& why_not);

  EndpointHandler handler_;
  std::mutex mutex_;
  std::map<uint64_t, Opened> opened_;  // guarded by mutex_
  uint64_t last_number_ = 0;
  std::map<engine::RunKey, Wanted> wanted_;  // by runs that have had faults
  std::map<uint64_t, Asked> asked_;          // by request; guarded by mutex_
  uint64_t last_request_ = 0;
  std::set<std::pair<uint64_t, uint32_t>> ahead_;  // networks and addresses of unused machines
};

}  // namespace caip::host
