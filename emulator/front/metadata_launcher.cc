#include "emulator/front/metadata_launcher.h"

#include <utility>

#include "base/hash.h"

namespace caip::front {
namespace {

// A stable positive 64-bit number, like the service's instance ids.
uint64_t NumberFor(const std::string& words) { return Fnv1a(words) >> 1; }

// The names of a machine's hosts file that need no proxy.
std::vector<std::string> NamesIn(const engine::ReplicaMachine& machine,
                                 const ReplicaNetworkOptions& network) {
  std::vector<std::string> names;
  for (const engine::ReplicaPeer& peer : machine.peers) names.push_back(peer.host_name);
  names.push_back(network.machines->SharedAddress());
  names.push_back(network.machines->HostAddress());
  names.emplace_back(kHostName);
  names.insert(names.end(), network.names.begin(), network.names.end());
  return names;
}

}  // namespace

MetadataLauncher::~MetadataLauncher() {
  for (const auto& [key, run] : runs_) Close(key, run);
}

void MetadataLauncher::Close(const engine::RunKey& key, const Run& run) {
  for (const auto& [replica, endpoint] : run.endpoints) {
    world_.machines.Remove(ListenerTag(key, replica));  // ends requests that wait for a change
    world_.server.Unlisten(ListenerTag(key, replica));
  }
  if (!run.network) return;
  world_.machines.Remove(RunTag(key));
  for (const auto& shared : run.network->endpoints) world_.server.Unlisten(shared.tag);
}

// What waits for the packages need not wait for the network.
void MetadataLauncher::Expect(const engine::RunKey& run,
                              const std::vector<std::string>& addresses) {
  if (!options_.network || !options_.network->makes_ahead) return inner().Expect(run, addresses);
  std::shared_ptr<const engine::RunNetwork>& network = runs_[run].network;
  if (!network) network = NetworkOf(run, *options_.network);
  std::vector<std::string> hosts;
  for (const std::string& address : addresses)
    hosts.push_back(address.substr(0, address.rfind(':')));
  options_.network->machines->MakeAhead(run, network, std::move(hosts));
  inner().Expect(run, addresses);
}

void MetadataLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  if (const Endpoint* endpoint = EndpointOf(launch)) Describe(launch, *endpoint);
  if (options_.network) Isolate(launch);
  inner().Launch(std::move(launch), std::move(listener));
}

void MetadataLauncher::Discard(const engine::RunKey& run) {
  if (const auto found = runs_.find(run); found != runs_.end()) {
    Close(run, found->second);
    runs_.erase(found);
  }
  inner().Discard(run);
}

// An endpoint stays for all boots: after a restart, the replica finds its metadata server at the
// same address.
MetadataLauncher::Endpoint* MetadataLauncher::EndpointOf(const engine::ReplicaLaunch& launch) {
  const std::string tag = ListenerTag(launch.key.run, launch.key.replica);
  Run& run = runs_[launch.key.run];
  const auto [place, is_new] = run.endpoints.try_emplace(launch.key.replica);
  Endpoint& endpoint = place->second;
  if (is_new && !Open(launch, run, endpoint)) {
    run.endpoints.erase(place);
    return nullptr;
  }
  if (is_new || launch.fresh_disk) {
    endpoint.instance_id = NumberFor(tag + "/" + std::to_string(launch.key.boot));
  }
  return &endpoint;
}

bool MetadataLauncher::Open(const engine::ReplicaLaunch& launch, Run& run, Endpoint& endpoint) {
  const engine::RunKey& key = launch.key.run;
  if (!options_.network) {
    const auto port = world_.server.Listen(options_.address, ListenerTag(key, launch.key.replica));
    if (port.ok()) endpoint.address = options_.address + ":" + std::to_string(*port);
    return port.ok();
  }
  endpoint.address =
      options_.network->machines->SharedAddress() + ":" + std::to_string(options_.network->port);
  if (!run.network) run.network = NetworkOf(key, *options_.network);
  if (std::exchange(run.is_known, true)) return true;
  world_.machines.PutShared(RunTag(key), ReplicaFinder(key, launch.machine));
  return true;
}

// The first launch opens the endpoints of the network.
void MetadataLauncher::Isolate(engine::ReplicaLaunch& launch) {
  std::vector<std::string> names = options_.network->names;
  const std::vector<std::string> more = options_.network->more_names();
  names.insert(names.end(), more.begin(), more.end());
  launch.isolation = engine::ReplicaIsolation{
      runs_[launch.key.run].network, AddressOf(launch.machine, launch.key.replica),
      HostsFileOf(launch.machine, names, *options_.network->machines)};
  if (!options_.https) return;
  launch.device_nodes.push_back({options_.https->bundle, kBundleOnMachines, true});
  for (const std::string& covered : options_.network->covered) {
    launch.isolation->covers.push_back({options_.https->bundle, covered});
  }
}

metadata::Machine MetadataLauncher::MachineOf(const engine::ReplicaLaunch& launch,
                                              uint64_t instance_id) const {
  const engine::RunKey& run = launch.key.run;
  const engine::ReplicaMachine& rented = launch.machine;
  metadata::Machine machine{
      .project_id = run.project,
      .project_number = options_.project_number,
      .instance_id = instance_id,
      .name = rented.host_name,
      .hostname = rented.host_name + ".c." + run.project + ".internal",
      .zone = rented.region + "-b",  // as TPU_CONFIG has it
      .machine_type = rented.machine_type,
      .image = rented.image_uri,
      .ip = options_.network ? AddressOf(rented, launch.key.replica) : options_.address,
      .attributes = {{"job_id", run.job_id}, {"task_name", launch.task}},
      .created = world_.wall.Now(),
      .service_account =
          rented.service_account.empty() ? options_.service_account : rented.service_account,
      .job = run.job_id,
      .replica = launch.task};
  if (!run.trial.empty()) machine.attributes["trial_id"] = run.trial;
  return machine;
}

void MetadataLauncher::Describe(engine::ReplicaLaunch& launch, const Endpoint& endpoint) {
  const metadata::Machine machine = MachineOf(launch, endpoint.instance_id);
  front::FrontFacts facts;
  if (!options_.network) {  // in a network, its name works, and it issues tokens itself
    facts.metadata = endpoint.address;
    facts.token = world_.mint.Lasting(
        {machine.service_account, machine.project_id, machine.job, machine.replica},
        machine.scopes);
  }
  front::HttpsFront https;
  if (options_.https) {
    https = *options_.https;
    https.proxy = "http://" + endpoint.address;
    if (options_.network) {
      https.bundle = kBundleOnMachines;
      https.direct = NamesIn(launch.machine, *options_.network);
    }
    https.direct.insert(https.direct.begin(), launch.machine.peer_hosts.begin(),
                        launch.machine.peer_hosts.end());
    facts.https = &https;
  }
  for (auto& variable : front::RenderFrontEnvironment(facts)) {
    launch.environment.push_back(std::move(variable));
  }
  world_.machines.Put(ListenerTag(launch.key.run, launch.key.replica), machine);
}

}  // namespace caip::front
