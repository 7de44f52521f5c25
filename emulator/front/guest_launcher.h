#pragma once
// A launcher that gives each replica a metadata server of its own before another launcher starts
// it: a door of the server that only this replica is told of, open until its run has ended.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "emulator/front/front_environment.h"
#include "emulator/front/guest_network.h"
#include "engine/ports.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "host/abilities.h"
#include "http/server.h"

namespace caip::front {

struct GuestOptions {
  std::string address;          // of this host, for the doors; as replicas see it
  std::string project_number;   // of every project
  std::string service_account;  // of jobs that name none
  /// The front of Google's https names: `proxy` is filled in for each replica, `direct` is what the
  /// host itself exempts. Unset: replicas are not led there.
  std::optional<front::HttpsFront> https;
  /// Set: each run gets a network of its own, its replicas a hosts file.
  std::optional<GuestNetworkOptions> network = std::nullopt;
};

/// Engine thread, as a Launcher. All that it is given outlives it.
class GuestLauncher final : public host::ForwardingLauncher {
 public:
  struct World {
    http::Server& server;
    metadata::MachineTable& book;
    const metadata::TokenMint& mint;
    const Clock& wall;
  };
  GuestLauncher(std::unique_ptr<engine::Launcher> inner, World world, GuestOptions options)
      : ForwardingLauncher(std::move(inner)), world_(world), options_(std::move(options)) {}
  ~GuestLauncher() override;

  /// A replica for which no door can be opened (out of descriptors) starts without these variables.
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Discard(const engine::RunKey& run) override;

 private:
  struct Door {
    std::string address;   // "127.0.0.1:40001"
    uint64_t machine = 0;  // instance id: another one for each machine
  };
  struct Run {
    std::map<run::ReplicaId, Door> doors;
    std::shared_ptr<const engine::RunNetwork> network;  // where it has one of its own
  };
  Door* DoorOf(const engine::ReplicaLaunch& launch);
  metadata::Machine GuestOf(const engine::ReplicaLaunch& launch, uint64_t machine) const;
  bool Open(const engine::ReplicaLaunch& launch, Run& run, Door& door);
  void Close(const engine::RunKey& key, const Run& run);
  void Describe(engine::ReplicaLaunch& launch, const Door& door);
  void Isolate(engine::ReplicaLaunch& launch);

  World world_;
  GuestOptions options_;
  std::map<engine::RunKey, Run> runs_;
};

}  // namespace caip::front
