#include "emulator/front/replica_network.h"

#include <algorithm>
#include <set>

namespace caip::front {
namespace {

// The address of "localhost" in every network, as every Linux distribution ships it.
constexpr char kLocalhostAddress[] = "127.0.0.1";

}  // namespace

std::string RunTag(const engine::RunKey& run) {
  return run.project + "/" + run.job_id + "/" + run.trial + "/";
}

std::string ListenerTag(const engine::RunKey& run, run::ReplicaId replica) {
  return RunTag(run) + run::Name(replica);
}

std::string OwnEndpoint(const engine::ReplicaMachine& machine, run::ReplicaId replica,
                        const host::OwnNetworks& networks) {
  const auto& peers = machine.peers;
  const auto at = std::find_if(peers.begin(), peers.end(), [&](const engine::ReplicaPeer& peer) {
    return peer.replica == replica;
  });
  const auto place = networks.PrivateEndpoint(static_cast<size_t>(at - peers.begin()));
  return place.address + ":" + std::to_string(place.port);
}

std::shared_ptr<const engine::RunNetwork> NetworkOf(const engine::RunKey& run,
                                                    const engine::ReplicaMachine& machine,
                                                    const ReplicaNetworkOptions& options) {
  auto network = std::make_shared<engine::RunNetwork>();
  for (size_t i = 0; i < machine.peers.size(); ++i) {
    const auto place = options.networks->PrivateEndpoint(i);
    network->endpoints.push_back(
        {place.address, place.port, ListenerTag(run, machine.peers[i].replica)});
  }
  const std::string shared = RunTag(run);
  network->endpoints.push_back({front::kMetadataAddress, 80, shared});
  for (const uint16_t port : std::set<uint16_t>{80, 443, options.port}) {
    network->endpoints.push_back({options.networks->SharedAddress(), port, shared});
  }
  return network;
}

std::string HostsFileOf(const engine::ReplicaMachine& machine,
                        const std::vector<std::string>& names, const host::OwnNetworks& networks) {
  front::HostsFacts facts;
  facts.served_at = networks.SharedAddress();
  for (const engine::ReplicaPeer& peer : machine.peers) {
    facts.replicas.emplace_back(peer.host_name, peer.host);
  }
  facts.served = names;
  return front::RenderHostsFile(facts);
}

std::function<std::string(const std::string& peer)> ReplicaFinder(
    const engine::RunKey& run, const engine::ReplicaMachine& machine,
    const ReplicaNetworkOptions& options) {
  const std::string first = ListenerTag(run, machine.peers.front().replica);
  if (machine.peers.size() == 1) return [first](const std::string&) { return first; };
  return [run, first, networks = options.networks](const std::string& peer) {
    const std::string task = networks->TaskOfClient(run, peer);
    return task.empty() ? first : RunTag(run) + task;
  };
}

std::string RenderHostsFile(const HostsFacts& facts) {
  std::string text = std::string(kLocalhostAddress) +
                     " localhost\n"
                     "::1 localhost ip6-localhost ip6-loopback\n" +
                     kMetadataAddress + " metadata.google.internal metadata\n";
  for (const std::string& name : facts.served) text += facts.served_at + " " + name + "\n";
  for (const auto& [name, address] : facts.replicas) {
    // hosts(5) maps to addresses only, not to another name.
    text += address == "localhost" ? kLocalhostAddress : address;
    text += " " + name + "\n";
  }
  return text;
}

}  // namespace caip::front
