#include "emulator/scenario/launch_watch.h"

#include <cmath>
#include <utility>

#include "base/text.h"
#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Happening;

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

Happening StartOf(const engine::ReplicaLaunch& launch) {
  Happening happening;
  happening.kind = Happening::Kind::kStart;
  happening.replica = NameOf(launch.key);
  happening.boot = launch.key.boot;
  happening.fresh_disk = launch.fresh_disk;
  return happening;
}

Happening LiveOf(const engine::ReplicaKey& key) {
  Happening happening;
  happening.kind = Happening::Kind::kLive;
  happening.replica = NameOf(key);
  happening.boot = key.boot;
  return happening;
}

Happening EndOf(const engine::ReplicaExit& exit) {
  Happening happening;
  happening.kind = Happening::Kind::kExit;
  happening.replica = NameOf(exit.key);
  happening.boot = exit.key.boot;
  happening.exit_code = exit.exit_code;
  happening.signal = exit.signal;
  happening.detail = exit.start_error;
  return happening;
}

Happening ReportOf(const engine::ReplicaKey& key, const std::string& tag,
                   const engine::Report& report) {
  Happening happening;
  happening.kind = Happening::Kind::kMetric;
  happening.replica = NameOf(key);
  happening.boot = key.boot;
  happening.text = tag;
  happening.step = report.step;
  happening.record = {{"step", report.step}};
  if (std::isfinite(report.value)) happening.record["value"] = report.value;
  return happening;
}

}  // namespace

void WatchedLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  LeadThroughItsDoor(launch);
  launch.watch = watch_;
  const std::string replica = NameOf(launch.key);
  if (company_.clocks) company_.clocks->Give(replica, launch.environment);
  const std::string boot_disk = inner_.BootDisk(launch.key);
  if (company_.dress) company_.dress(launch, boot_disk);
  if (company_.onlooker) company_.onlooker->Launching(launch, boot_disk);
  {
    const std::lock_guard lock(mutex_);
    last_[replica] = launch.key;
  }
  Listener told;
  told.on_started = [this, tell = listener.on_started](const engine::ReplicaKey& key) {
    director_.Note(LiveOf(key));
    if (tell) tell(key);
  };
  told.on_exit = [this, tell = listener.on_exit](const engine::ReplicaExit& exit) {
    if (company_.onlooker) company_.onlooker->Ended(exit);
    director_.Note(EndOf(exit));
    tell(exit);
  };
  const std::string tag = launch.metrics ? launch.metrics->tag : "";
  told.on_reports = [this, tag, tell = listener.on_reports](const engine::ReplicaKey& key,
                                                            std::vector<engine::Report> reports) {
    for (const engine::Report& report : reports) director_.Note(ReportOf(key, tag, report));
    const bool of_trial = !key.run.trial.empty();  // else the engine knows of none
    if (tell && of_trial) tell(key, std::move(reports));
  };
  auto start = [this, launch = std::move(launch), told = std::move(told)] {
    director_.Note(StartOf(launch));
    inner_.Launch(launch, told);
  };
  if (!director_.KeepDown(replica, start)) start();
}

std::optional<engine::ReplicaKey> WatchedLauncher::LastBoot(const std::string& replica) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_.find(replica);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace caip::scenario
