#include "emulator/front/guest_network.h"

#include <algorithm>

#include "emulator/front/hosts_file.h"

namespace caip::front {
namespace {

// Above the ports that Linux hands out (60999), at loopback addresses that are never lent to
// replicas (127.0.0.*), nor are 127.0.0.1, where the emulator's port may be any.
constexpr int kFirstDoor = 61000;
constexpr int kDoorsOfAnAddress = 4000;
constexpr int kFirstAddress = 2;

struct Place {
  std::string address;
  uint16_t port = 0;
};

Place OwnPlace(size_t index) {
  const int number = static_cast<int>(index);
  return {"127.0.0." + std::to_string(kFirstAddress + number / kDoorsOfAnAddress),
          static_cast<uint16_t>(kFirstDoor + number % kDoorsOfAnAddress)};
}

}  // namespace

std::string RunTag(const engine::RunKey& run) {
  return run.project + "/" + run.job_id + "/" + run.trial + "/";
}

std::string ListenerTag(const engine::RunKey& run, run::ReplicaId replica) {
  return RunTag(run) + run::Name(replica);
}

std::string OwnDoor(const engine::ReplicaMachine& machine, run::ReplicaId replica) {
  const auto& peers = machine.peers;
  const auto at = std::find_if(peers.begin(), peers.end(), [&](const engine::ReplicaPeer& peer) {
    return peer.replica == replica;
  });
  const Place place = OwnPlace(static_cast<size_t>(at - peers.begin()));
  return place.address + ":" + std::to_string(place.port);
}

std::shared_ptr<const engine::RunNetwork> NetworkOf(const engine::RunKey& run,
                                                    const engine::ReplicaMachine& machine,
                                                    uint16_t port) {
  auto network = std::make_shared<engine::RunNetwork>();
  for (size_t i = 0; i < machine.peers.size(); ++i) {
    const Place place = OwnPlace(i);
    network->doors.push_back(
        {place.address, place.port, ListenerTag(run, machine.peers[i].replica)});
  }
  const std::string shared = RunTag(run);
  network->doors.push_back({front::kMetadataAddress, 80, shared});
  network->doors.push_back({"127.0.0.1", 80, shared});
  network->doors.push_back({"127.0.0.1", 443, shared});
  if (port != 80 && port != 443) network->doors.push_back({"127.0.0.1", port, shared});
  return network;
}

std::string HostsFileOf(const engine::ReplicaMachine& machine,
                        const std::vector<std::string>& names) {
  front::HostsFacts facts;
  for (const engine::ReplicaPeer& peer : machine.peers) {
    facts.replicas.emplace_back(peer.host_name, peer.host);
  }
  facts.served = names;
  return front::RenderHostsFile(facts);
}

std::function<std::string(const std::string& peer)> GuestFinder(
    const engine::RunKey& run, const engine::ReplicaMachine& machine,
    const GuestNetworkOptions& options) {
  const std::string first = ListenerTag(run, machine.peers.front().replica);
  if (machine.peers.size() == 1) return [first](const std::string&) { return first; };
  return [run, first, task_of = options.task_of_client](const std::string& peer) {
    const std::string task = task_of(run, peer);
    return task.empty() ? first : RunTag(run) + task;
  };
}

}  // namespace caip::front
