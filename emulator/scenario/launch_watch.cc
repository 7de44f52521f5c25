#include "emulator/scenario/launch_watch.h"

#include <cmath>
#include <utility>

#include "base/text.h"
#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Event;

std::string NameOf(const engine::ReplicaKey& key) { return harness::ReplicaNameOf(key); }

// Storage is reached through the replica's own door, which tells us whose a request is.
void LeadThroughItsDoor(engine::ReplicaLaunch& launch) {
  std::string door;
  for (const auto& [name, value] : launch.environment) {
    if (name == "GCE_METADATA_HOST") door = value;
  }
  std::string endpoint;
  for (const auto& [name, value] : launch.environment) {
    if (name == "STORAGE_EMULATOR_HOST") endpoint = ReplaceAll(value, "http://", "");
  }
  if (door.empty() || endpoint.empty()) return;
  for (auto& [name, value] : launch.environment) value = ReplaceAll(value, endpoint, door);
}

Event EventOf(const engine::ReplicaKey& key, Event::Body body) {
  return {.replica = NameOf(key), .boot = key.boot, .body = std::move(body)};
}

Event ReportOf(const engine::ReplicaKey& key, const std::string& tag,
               const engine::Report& report) {
  Json record = {{"step", report.step}};
  if (std::isfinite(report.value)) record["value"] = report.value;
  return EventOf(key, harness::MetricEvent{tag, report.step, std::move(record)});
}

}  // namespace

void WatchedLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  LeadThroughItsDoor(launch);
  const std::string replica = NameOf(launch.key);
  if (company_.clocks) company_.clocks->Give(replica, launch.environment);
  const std::string boot_disk = disks_.BootDisk(launch.key);
  if (company_.dress) company_.dress(launch, boot_disk);
  if (company_.onlooker) company_.onlooker->Launching(launch, boot_disk);
  {
    const std::lock_guard lock(mutex_);
    last_[replica] = launch.key;
  }
  Listener told;
  told.on_started = [this, tell = listener.on_started](const engine::ReplicaKey& key) {
    injector_.Report(EventOf(key, harness::LiveEvent{}));
    if (tell) tell(key);
  };
  told.on_exit = [this, tell = listener.on_exit](const engine::ReplicaExit& exit) {
    if (company_.onlooker) company_.onlooker->Ended(exit);
    injector_.Report(
        EventOf(exit.key, harness::ExitEvent{exit.exit_code, exit.signal, exit.start_error}));
    tell(exit);
  };
  const std::string tag = launch.metrics ? launch.metrics->tag : "";
  told.on_reports = [this, tag, tell = listener.on_reports](const engine::ReplicaKey& key,
                                                            std::vector<engine::Report> reports) {
    for (const engine::Report& report : reports) injector_.Report(ReportOf(key, tag, report));
    const bool of_trial = !key.run.trial.empty();  // else the engine knows of none
    if (tell && of_trial) tell(key, std::move(reports));
  };
  auto start = [this, launch = std::move(launch), told = std::move(told)] {
    injector_.Report(EventOf(launch.key, harness::StartEvent{launch.fresh_disk}));
    inner().Launch(launch, told);
  };
  if (!injector_.DelayStart(replica, start)) start();
}

std::optional<engine::ReplicaKey> WatchedLauncher::LastBoot(const std::string& replica) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_.find(replica);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace caip::scenario
