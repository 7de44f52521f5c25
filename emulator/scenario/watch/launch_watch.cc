#include "emulator/scenario/watch/launch_watch.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Event;

constexpr std::chrono::seconds kSignalPatience{5};  // the engine sends it at once

std::string NameOf(const engine::ReplicaKey& key) { return harness::ReplicaNameOf(key); }

// Gives the replica its own listener as the endpoint of storage, so that each request shows which
// replica sent it.
void UseOwnListener(engine::ReplicaLaunch& launch) {
  std::string listener;
  for (const auto& [name, value] : launch.environment) {
    if (name == "GCE_METADATA_HOST") listener = value;
  }
  std::string endpoint;
  for (const auto& [name, value] : launch.environment) {
    if (name == "STORAGE_EMULATOR_HOST") endpoint = ReplaceAll(value, "http://", "");
  }
  if (listener.empty() || endpoint.empty()) return;
  for (auto& [name, value] : launch.environment) value = ReplaceAll(value, endpoint, listener);
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

// Whether the replica has port 2222 of a loopback address, which any other process of this host can
// take. Machines have other addresses, and `addressing: ports` gives localhost.
bool SharesTaskPort(const engine::ReplicaLaunch& launch) {
  const auto& peers = launch.machine.peers;
  return !peers.empty() && peers.front().host.starts_with("127.");
}

}  // namespace

void WatchedLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  UseOwnListener(launch);
  if (hooks_.callers) hooks_.callers->Learn(launch);
  const std::string replica = NameOf(launch.key);
  if (hooks_.clocks) hooks_.clocks->Give(replica, launch);
  const std::string boot_disk = disks_.BootDisk(launch.key);
  if (hooks_.alter) hooks_.alter(launch, boot_disk);
  if (hooks_.observer) hooks_.observer->Launching(launch, disks_);
  {
    const std::lock_guard lock(mutex_);
    last_[replica] = launch.key;
  }
  Listener reported;  // outlives this launcher, whose replicas end while it is destroyed
  reported.on_started = [&injector = injector_,
                         tell = listener.on_started](const engine::ReplicaKey& key) {
    injector.Report(EventOf(key, harness::LiveEvent{}));
    if (tell) tell(key);
  };
  reported.on_exit = [&injector = injector_, observer = hooks_.observer, sent = sent_,
                      refused = hooks_.refused,
                      tell = listener.on_exit](const engine::ReplicaExit& ended) {
    if (refused && ended.start_may_pass) refused(ended.start_error);
    const engine::ReplicaExit exit = sent->AsReported(ended);
    if (observer) observer->Ended(exit);
    sent->NoteEnd(exit.key);
    const std::string why_not = exit.start_may_pass ? "" : exit.start_error;
    injector.ReportEnd(EventOf(exit.key, harness::ExitEvent{exit.exit_code, exit.signal, why_not}));
    tell(exit);
  };
  if (SharesTaskPort(launch)) {
    const bool has_peers = launch.machine.peers.size() > 1 || !launch.key.run.trial.empty();
    reported.on_exit = NotingFailures(has_peers, std::move(reported.on_exit));
  }
  const std::string tag = launch.metrics ? launch.metrics->tag : "";
  reported.on_reports = [&injector = injector_, tag, tell = listener.on_reports](
                            const engine::ReplicaKey& key, std::vector<engine::Report> reports) {
    for (const engine::Report& report : reports) injector.Report(ReportOf(key, tag, report));
    const bool of_trial = !key.run.trial.empty();  // the engine knows reports of trials only
    if (tell && of_trial) tell(key, std::move(reports));
  };
  auto start = [this, launch = std::move(launch), reported = std::move(reported)] {
    injector_.Report(EventOf(launch.key, harness::StartEvent{launch.fresh_disk}));
    if (hooks_.networks) hooks_.networks->Learn(launch);
    inner().Launch(launch, reported);
  };
  if (!injector_.DelayStart(replica, start)) start();
}

// A listener for ends that reports the failure of a replica before `next` gets its end.
std::function<void(const engine::ReplicaExit&)> WatchedLauncher::NotingFailures(
    bool has_peers, std::function<void(const engine::ReplicaExit&)> next) const {
  return [has_peers, failed = hooks_.replica_failed, sent = sent_,
          next = std::move(next)](const engine::ReplicaExit& ended) {
    if (failed && sent->FailedByItself(ended)) failed(has_peers);
    next(ended);
  };
}

void WatchedLauncher::Signal(const engine::ReplicaKey& key, int signal) {
  ForwardingLauncher::Signal(key, signal);
  {
    const std::lock_guard lock(sent_->mutex);
    ++sent_->signals[key];
  }
  sent_->changed.notify_all();
}

void WatchedLauncher::Fail(const engine::ReplicaKey& key, int status) {
  {
    const std::lock_guard lock(sent_->mutex);
    sent_->failed[key] = status;
  }
  inner().Kill(key);
}

bool WatchedLauncher::Sent::FailedByItself(const engine::ReplicaExit& exit) {
  const std::lock_guard lock(mutex);
  const bool is_error = exit.signal == 0 && exit.exit_code != 0 && !exit.start_may_pass;
  return is_error && !failed.contains(exit.key) && !signals.contains(exit.key);
}

// A program that was faster than the fault has its own end.
engine::ReplicaExit WatchedLauncher::Sent::AsReported(engine::ReplicaExit exit) {
  const std::lock_guard lock(mutex);
  const auto found = failed.find(exit.key);
  if (found == failed.end() || exit.signal == 0) return exit;
  exit.exit_code = found->second;
  exit.signal = 0;
  exit.out_of_memory = false;
  return exit;
}

void WatchedLauncher::Sent::NoteEnd(const engine::ReplicaKey& key) {
  {
    const std::lock_guard lock(mutex);
    ended.insert(key);
  }
  changed.notify_all();
}

int WatchedLauncher::CountSignals(const engine::ReplicaKey& key) const {
  const std::lock_guard lock(sent_->mutex);
  const auto found = sent_->signals.find(key);
  return found == sent_->signals.end() ? 0 : found->second;
}

void WatchedLauncher::WaitForSignal(const engine::ReplicaKey& key, int known) const {
  std::unique_lock lock(sent_->mutex);
  sent_->changed.wait_for(lock, kSignalPatience, [&] {
    const auto found = sent_->signals.find(key);
    const bool is_sent = found != sent_->signals.end() && found->second > known;
    return is_sent || sent_->ended.contains(key);
  });
}

std::optional<engine::ReplicaKey> WatchedLauncher::LastBoot(const std::string& replica) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_.find(replica);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

namespace {

class WatchedPackages final : public engine::Packager {
 public:
  WatchedPackages(std::unique_ptr<engine::Packager> inner, harness::FaultInjector& injector)
      : inner_(std::move(inner)), injector_(injector) {}

  void Prepare(engine::PrepareRequest request,
               std::function<void(engine::Prepared)> done) override {
    harness::Event event{.body = harness::PrepareEvent{request.attempt}};
    const harness::FaultResponse response = injector_.Report(std::move(event));
    if (response.kind != harness::FaultResponse::Kind::kRefuse) {
      inner_->Prepare(std::move(request), std::move(done));
      return;
    }
    engine::Prepared prepared;
    prepared.run = request.run;
    prepared.attempt = request.attempt;
    prepared.failure = engine::Prepared::Failure{1, response.message, ""};
    done(std::move(prepared));
  }
  void Abandon(const engine::RunKey& run) override { inner_->Abandon(run); }

 private:
  std::unique_ptr<engine::Packager> inner_;
  harness::FaultInjector& injector_;
};

}  // namespace

std::unique_ptr<engine::Packager> WatchedPackager(std::unique_ptr<engine::Packager> inner,
                                                  harness::FaultInjector& injector) {
  return std::make_unique<WatchedPackages>(std::move(inner), injector);
}

}  // namespace caip::scenario
