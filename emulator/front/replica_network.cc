#include "emulator/front/replica_network.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

std::string AddressOf(const engine::ReplicaMachine& machine, run::ReplicaId replica) {
  const auto& peers = machine.peers;
  const auto at = std::find_if(peers.begin(), peers.end(), [&](const engine::ReplicaPeer& peer) {
    return peer.replica == replica;
  });
  return at == peers.end() ? "" : at->host;
}

std::shared_ptr<const engine::RunNetwork> NetworkOf(const engine::RunKey& run,
                                                    const ReplicaNetworkOptions& options) {
  auto network = std::make_shared<engine::RunNetwork>();
  const std::string shared = RunTag(run);
  network->endpoints.push_back({front::kMetadataAddress, 80, shared});
  for (const uint16_t port : std::set<uint16_t>{80, 443, options.port}) {
    network->endpoints.push_back({options.machines->SharedAddress(), port, shared});
  }
  return network;
}

std::string HostsFileOf(const engine::ReplicaMachine& machine,
                        const std::vector<std::string>& names, const host::OwnMachines& machines) {
  front::HostsFacts facts;
  facts.served_at = machines.SharedAddress();
  facts.host = machines.HostAddress();
  for (const engine::ReplicaPeer& peer : machine.peers) {
    facts.replicas.emplace_back(peer.host_name, peer.host);
  }
  facts.served = names;
  return front::RenderHostsFile(facts);
}

std::function<std::string(const std::string& peer)> ReplicaFinder(
    const engine::RunKey& run, const engine::ReplicaMachine& machine) {
  std::map<std::string, std::string> tags;
  for (const engine::ReplicaPeer& peer : machine.peers) {
    tags[peer.host] = ListenerTag(run, peer.replica);
  }
  const std::string first = ListenerTag(run, machine.peers.front().replica);
  return [tags = std::move(tags), first](const std::string& peer) {
    const auto found = tags.find(peer.substr(0, peer.rfind(':')));
    return found == tags.end() ? first : found->second;
  };
}

std::string RenderHostsFile(const HostsFacts& facts) {
  std::string text = std::string(kLocalhostAddress) +
                     " localhost\n"
                     "::1 localhost ip6-localhost ip6-loopback\n" +
                     kMetadataAddress + " metadata.google.internal metadata\n";
  if (!facts.host.empty()) text += facts.host + " " + kHostName + "\n";
  for (const std::string& name : facts.served) text += facts.served_at + " " + name + "\n";
  for (const auto& [name, address] : facts.replicas) text += address + " " + name + "\n";
  return text;
}

}  // namespace caip::front
