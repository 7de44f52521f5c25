#include "emulator/front/guest_launcher.h"

namespace caip::front {
namespace {

// 64 bits that are the same for the same words; positive, as the service's numbers are.
uint64_t NumberFor(const std::string& words) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (unsigned char c : words) hash = (hash ^ c) * 1099511628211u;
  return hash >> 1;
}

}  // namespace

std::string ListenerTag(const engine::RunKey& run, spec::ReplicaId replica) {
  return run.project + "/" + run.job_id + "/" + run.trial + "/" + spec::TaskName(replica);
}

GuestLauncher::~GuestLauncher() {
  while (!doors_.empty()) {
    const engine::RunKey run = doors_.begin()->first;
    for (const auto& [replica, door] : doors_.begin()->second) {
      world_.book.Remove(ListenerTag(run, replica));  // who waits for news there goes first
      world_.server.Unlisten(ListenerTag(run, replica));
    }
    doors_.erase(run);
  }
}

std::string GuestLauncher::BootDisk(const engine::ReplicaKey& key) const {
  return world_.inner.BootDisk(key);
}

void GuestLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  if (const Door* door = DoorOf(launch)) Describe(launch, *door);
  world_.inner.Launch(std::move(launch), std::move(listener));
}

void GuestLauncher::Signal(const engine::ReplicaKey& key, int signal) {
  world_.inner.Signal(key, signal);
}

void GuestLauncher::Kill(const engine::ReplicaKey& key) { world_.inner.Kill(key); }

void GuestLauncher::Freeze(const engine::ReplicaKey& key, std::function<void()> frozen) {
  world_.inner.Freeze(key, std::move(frozen));
}

void GuestLauncher::Thaw(const engine::ReplicaKey& key) { world_.inner.Thaw(key); }

void GuestLauncher::Discard(const engine::RunKey& run) {
  if (const auto found = doors_.find(run); found != doors_.end()) {
    for (const auto& [replica, door] : found->second) {
      world_.book.Remove(ListenerTag(run, replica));  // who waits for news there goes first
      world_.server.Unlisten(ListenerTag(run, replica));
    }
    doors_.erase(found);
  }
  world_.inner.Discard(run);
}

// A door outlasts restarts: the replica finds its metadata server where it was.
GuestLauncher::Door* GuestLauncher::DoorOf(const engine::ReplicaLaunch& launch) {
  const std::string tag = ListenerTag(launch.key.run, launch.key.replica);
  auto& doors = doors_[launch.key.run];
  const auto [place, is_new] = doors.try_emplace(launch.key.replica);
  Door& door = place->second;
  if (is_new) {
    const auto port = world_.server.Listen(tag);
    if (!port.ok()) {
      doors.erase(place);
      return nullptr;
    }
    door.port = *port;
  }
  if (is_new || launch.fresh_disk) {
    door.machine = NumberFor(tag + "/" + std::to_string(launch.key.boot));
  }
  return &door;
}

metadata::Guest GuestLauncher::GuestOf(const engine::ReplicaLaunch& launch,
                                       uint64_t machine) const {
  const engine::RunKey& run = launch.key.run;
  const engine::ReplicaMachine& rented = launch.machine;
  metadata::Guest guest{
      .project_id = run.project,
      .project_number = options_.project_number,
      .instance_id = machine,
      .name = rented.host_name,
      .hostname = rented.host_name + ".c." + run.project + ".internal",
      .zone = rented.region + "-b",  // as TPU_CONFIG has it
      .machine_type = rented.machine_type,
      .image = rented.image_uri,
      .attributes = {{"job_id", run.job_id}, {"task_name", spec::TaskName(launch.key.replica)}},
      .created = world_.wall.Now(),
      .service_account =
          rented.service_account.empty() ? options_.service_account : rented.service_account,
      .job = run.job_id,
      .replica = spec::TaskName(launch.key.replica)};
  if (!run.trial.empty()) guest.attributes["trial_id"] = run.trial;
  return guest;
}

void GuestLauncher::Describe(engine::ReplicaLaunch& launch, const Door& door) {
  const metadata::Guest guest = GuestOf(launch, door.machine);
  const std::string address = "127.0.0.1:" + std::to_string(door.port);
  spec::FrontFacts facts;
  facts.metadata = address;
  facts.token = world_.mint.Lasting(
      {guest.service_account, guest.project_id, guest.job, guest.replica}, guest.scopes);
  spec::HttpsFront https;
  if (options_.https) {
    https = *options_.https;
    https.proxy = "http://" + address;
    https.direct.insert(https.direct.begin(), launch.machine.peer_hosts.begin(),
                        launch.machine.peer_hosts.end());
    facts.https = &https;
  }
  for (auto& variable : spec::RenderFrontEnvironment(facts)) {
    launch.environment.push_back(std::move(variable));
  }
  world_.book.Put(ListenerTag(launch.key.run, launch.key.replica), guest);
}

}  // namespace caip::front
