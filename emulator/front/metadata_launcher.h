#pragma once
// A launcher that gives each replica its own metadata server before another launcher starts the
// replica: a listener of the HTTP server that only this replica knows, open until the run has
// ended.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "emulator/front/front_environment.h"
#include "emulator/front/replica_network.h"
#include "engine/ports.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "host/abilities.h"
#include "http/server.h"

namespace caip::front {

struct MetadataOptions {
  std::string address;          // of this host as replicas see it, for the listeners
  std::string project_number;   // of every project
  std::string service_account;  // of jobs that name none
  /// The proxy for Google's https names: `proxy` is filled in for each replica, `direct` has the
  /// host's own exceptions. Unset: replicas get no proxy.
  std::optional<front::HttpsFront> https;
  /// Set: each replica has its own machine in a network of the run, and a hosts file.
  std::optional<ReplicaNetworkOptions> network = std::nullopt;
};

/// Engine thread, as a Launcher. The parts of its World outlive it.
class MetadataLauncher final : public host::ForwardingLauncher {
 public:
  struct World {
    http::Server& server;
    metadata::MachineTable& machines;
    const metadata::TokenMint& mint;
    const Clock& wall;
  };
  MetadataLauncher(std::unique_ptr<engine::Launcher> inner, World world, MetadataOptions options)
      : ForwardingLauncher(std::move(inner)), world_(world), options_(std::move(options)) {}
  ~MetadataLauncher() override;

  void Expect(const engine::RunKey& run, const std::vector<std::string>& addresses) override;
  /// A replica starts without these variables if no listener can be opened (out of descriptors).
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Discard(const engine::RunKey& run) override;

 private:
  struct Endpoint {
    std::string address;       // "127.0.0.1:40001"; the same for all machines of a network
    uint64_t instance_id = 0;  // differs for each machine
  };
  struct Run {
    std::map<run::ReplicaId, Endpoint> endpoints;
    std::shared_ptr<const engine::RunNetwork> network;  // empty if it has no own network
    bool is_known = false;                              // the table of machines knows its replicas
  };
  Endpoint* EndpointOf(const engine::ReplicaLaunch& launch);
  metadata::Machine MachineOf(const engine::ReplicaLaunch& launch, uint64_t instance_id) const;
  bool Open(const engine::ReplicaLaunch& launch, Run& run, Endpoint& endpoint);
  void Close(const engine::RunKey& key, const Run& run);
  void Describe(engine::ReplicaLaunch& launch, const Endpoint& endpoint);
  void Isolate(engine::ReplicaLaunch& launch);

  World world_;
  MetadataOptions options_;
  std::map<engine::RunKey, Run> runs_;
};

}  // namespace caip::front
