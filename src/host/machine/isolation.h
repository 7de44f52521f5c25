#pragma once
// The networks of runs, and a check whether this host allows caip to make networks.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/files.h"
#include "engine/ports.h"
#include "host/abilities.h"
#include "host/process/launcher_link.h"

namespace caip::host {

/// The networks that one launcher has opened. One thread opens and closes them. The launcher link's
/// thread receives the reports.
class RunNetworks {
 public:
  void SetEndpointHandler(EndpointHandler handler) { handler_ = std::move(handler); }

  /// The number of the run's network. Opens the network first if it does not exist.
  Result<uint64_t> Open(LauncherLink& link, const engine::RunKey& run,
                        const std::shared_ptr<const engine::RunNetwork>& network);
  void Close(LauncherLink* link, const engine::RunKey& run);
  /// Forgets all networks, because they ended with the launcher.
  void Forget();
  /// Called on the link's thread.
  void EndpointOpened(uint64_t number, uint32_t endpoint, Fd listening);

 private:
  struct Opened {
    engine::RunKey run;
    std::shared_ptr<const engine::RunNetwork> network;
  };
  EndpointHandler handler_;
  std::mutex mutex_;
  std::map<uint64_t, Opened> opened_;  // guarded by mutex_
  uint64_t last_number_ = 0;
};

/// Implements OwnNetworks::PrivateEndpoint for networks that a launcher opens.
OwnNetworks::Endpoint PrivateEndpointInNetwork(size_t index);

/// Why the launcher could not make namespaces: "making a network namespace: Operation not
/// permitted".
std::string WhyNoNamespaces(const launcher::Report& report);

/// Tries to make namespaces. nullopt if replicas can have their own on this host, else the reason.
/// `program`: caip-launcher.
std::optional<std::string> TryIsolation(const Path& program);

}  // namespace caip::host
