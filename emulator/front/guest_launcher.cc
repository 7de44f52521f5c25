#include "emulator/front/guest_launcher.h"

#include "base/hash.h"

namespace caip::front {
namespace {

// 64 bits that are the same for the same words; positive, as the service's numbers are.
uint64_t NumberFor(const std::string& words) { return Fnv1a(words) >> 1; }

}  // namespace

GuestLauncher::~GuestLauncher() {
  for (const auto& [key, run] : runs_) Close(key, run);
}

void GuestLauncher::Close(const engine::RunKey& key, const Run& run) {
  for (const auto& [replica, door] : run.doors) {
    world_.book.Remove(ListenerTag(key, replica));  // who waits for news there goes first
    world_.server.Unlisten(ListenerTag(key, replica));
  }
  if (!run.network) return;
  world_.book.Remove(RunTag(key));
  for (const auto& door : run.network->doors) world_.server.Unlisten(door.tag);
}

void GuestLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  if (const Door* door = DoorOf(launch)) Describe(launch, *door);
  if (options_.network) Isolate(launch);
  inner().Launch(std::move(launch), std::move(listener));
}

void GuestLauncher::Discard(const engine::RunKey& run) {
  if (const auto found = runs_.find(run); found != runs_.end()) {
    Close(run, found->second);
    runs_.erase(found);
  }
  inner().Discard(run);
}

// A door outlasts restarts: the replica finds its metadata server where it was.
GuestLauncher::Door* GuestLauncher::DoorOf(const engine::ReplicaLaunch& launch) {
  const std::string tag = ListenerTag(launch.key.run, launch.key.replica);
  Run& run = runs_[launch.key.run];
  const auto [place, is_new] = run.doors.try_emplace(launch.key.replica);
  Door& door = place->second;
  if (is_new && !Open(launch, run, door)) {
    run.doors.erase(place);
    return nullptr;
  }
  if (is_new || launch.fresh_disk) {
    door.machine = NumberFor(tag + "/" + std::to_string(launch.key.boot));
  }
  return &door;
}

bool GuestLauncher::Open(const engine::ReplicaLaunch& launch, Run& run, Door& door) {
  const engine::RunKey& key = launch.key.run;
  if (!options_.network) {
    const auto port = world_.server.Listen(options_.address, ListenerTag(key, launch.key.replica));
    if (port.ok()) door.address = options_.address + ":" + std::to_string(*port);
    return port.ok();
  }
  const host::OwnNetworks& networks = *options_.network->networks;
  door.address = OwnDoor(launch.machine, launch.key.replica, networks);
  if (run.network) return true;
  run.network = NetworkOf(key, launch.machine, *options_.network);
  world_.book.PutShared(RunTag(key), GuestFinder(key, launch.machine, *options_.network));
  return true;
}

// The network's doors are opened with the first launch, and served from then on.
void GuestLauncher::Isolate(engine::ReplicaLaunch& launch) {
  std::vector<std::string> names = options_.network->names;
  const std::vector<std::string> more = options_.network->more_names();
  names.insert(names.end(), more.begin(), more.end());
  launch.isolation =
      engine::ReplicaIsolation{runs_[launch.key.run].network,
                               HostsFileOf(launch.machine, names, *options_.network->networks)};
}

metadata::Machine GuestLauncher::GuestOf(const engine::ReplicaLaunch& launch,
                                         uint64_t machine) const {
  const engine::RunKey& run = launch.key.run;
  const engine::ReplicaMachine& rented = launch.machine;
  metadata::Machine guest{.project_id = run.project,
                          .project_number = options_.project_number,
                          .instance_id = machine,
                          .name = rented.host_name,
                          .hostname = rented.host_name + ".c." + run.project + ".internal",
                          .zone = rented.region + "-b",  // as TPU_CONFIG has it
                          .machine_type = rented.machine_type,
                          .image = rented.image_uri,
                          .ip = options_.address,
                          .attributes = {{"job_id", run.job_id}, {"task_name", launch.task}},
                          .created = world_.wall.Now(),
                          .service_account = rented.service_account.empty()
                                                 ? options_.service_account
                                                 : rented.service_account,
                          .job = run.job_id,
                          .replica = launch.task};
  if (!run.trial.empty()) guest.attributes["trial_id"] = run.trial;
  return guest;
}

void GuestLauncher::Describe(engine::ReplicaLaunch& launch, const Door& door) {
  const metadata::Machine guest = GuestOf(launch, door.machine);
  front::FrontFacts facts;
  if (!options_.network) {  // there it is found by its name, and gives tokens itself
    facts.metadata = door.address;
    facts.token = world_.mint.Lasting(
        {guest.service_account, guest.project_id, guest.job, guest.replica}, guest.scopes);
  }
  front::HttpsFront https;
  if (options_.https) {
    https = *options_.https;
    https.proxy = "http://" + door.address;
    if (options_.network) https.direct = options_.network->names;  // by the hosts file
    https.direct.insert(https.direct.begin(), launch.machine.peer_hosts.begin(),
                        launch.machine.peer_hosts.end());
    facts.https = &https;
  }
  for (auto& variable : front::RenderFrontEnvironment(facts)) {
    launch.environment.push_back(std::move(variable));
  }
  world_.book.Put(ListenerTag(launch.key.run, launch.key.replica), guest);
}

}  // namespace caip::front
