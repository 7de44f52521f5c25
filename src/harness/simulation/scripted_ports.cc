#include "harness/simulation/scripted_ports.h"

#include <csignal>
#include <utility>

#include "harness/errors.h"

namespace caip::harness {

using engine::ReplicaKey;
using engine::RunKey;

Result<run::Program> ScriptedLauncher::Resolve(const run::Program& program) const {
  const auto* image = std::get_if<run::ContainerImage>(&program);
  if (!image) return program;
  const auto found = images.find(image->uri);
  if (found == images.end()) return errors::NoSuchImage();
  run::ContainerImage resolved = *image;
  resolved.entrypoint = found->second;
  return run::Program(std::move(resolved));
}

std::string ScriptedLauncher::BootDisk(const ReplicaKey& key) const {
  const std::string trial = key.run.trial.empty() ? "" : "/trial-" + key.run.trial;
  return "/disks/" + key.run.project + "/" + key.run.job_id + trial + "/" + run::Name(key.replica);
}

void ScriptedLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  if (on_launch) on_launch(launch);
  const ReplicaKey key = launch.key;
  const Script does = script(launch);
  live_.emplace(key, Living{does, std::move(listener)});
  ++launches_;
  if (!does.start_error.empty()) {
    events_.In(does.start_after, [this, key] { End(key, 1, 0, false); });
    return;  // without a process nothing else happens
  }
  events_.In(does.start_after, [this, key] {
    if (const auto found = live_.find(key); found != live_.end()) {
      found->second.listener.on_started(key);
    }
  });
  for (const auto& [after, report] : does.reports) {
    // clang 14 cannot capture a binding
    events_.In(does.start_after + after, [this, key, report = report] {
      if (const auto found = live_.find(key); found != live_.end()) {
        found->second.listener.on_reports(key, {report});
      }
    });
  }
  if (does.run_for == kForever) return;
  events_.In(does.start_after + does.run_for,
             [this, key, code = does.exit_code, signal = does.signal, memory = does.out_of_memory] {
               End(key, code, signal, memory);
             });
}

void ScriptedLauncher::Signal(const ReplicaKey& key, int) {
  const auto found = live_.find(key);
  if (found == live_.end() || found->second.does.sigterm_takes == kForever) return;
  const int code = found->second.does.exit_code_of_sigterm;
  events_.In(found->second.does.sigterm_takes,
             [this, key, code] { End(key, code < 0 ? 0 : code, code < 0 ? SIGTERM : 0, false); });
}

void ScriptedLauncher::Kill(const ReplicaKey& key) {
  events_.In(std::chrono::milliseconds(1), [this, key] { End(key, 0, SIGKILL, false); });
}

std::vector<ReplicaKey> ScriptedLauncher::Live() const {
  std::vector<ReplicaKey> keys;
  for (const auto& [key, living] : live_) keys.push_back(key);
  return keys;
}

bool ScriptedLauncher::AnyLives(const RunKey& run) const {
  const auto first = live_.lower_bound({run, {}, 0});
  if (first == live_.end()) return false;
  const RunKey& found = first->first.run;
  return found == run ||
         (run.trial.empty() && found.project == run.project && found.job_id == run.job_id);
}

bool ScriptedLauncher::Lives(const RunKey& run, const run::ReplicaId& replica) const {
  const auto first = live_.lower_bound({run, replica, 0});
  return first != live_.end() && first->first.run == run && first->first.replica == replica;
}

void ScriptedLauncher::End(const ReplicaKey& key, int code, int signal, bool out_of_memory) {
  const auto found = live_.find(key);
  if (found == live_.end()) return;
  const Living was = std::move(found->second);
  live_.erase(found);
  was.listener.on_exit(
      {key, code, signal, out_of_memory, was.does.traceback, was.does.start_error});
}

void ScriptedPackager::Prepare(engine::PrepareRequest request,
                               std::function<void(engine::Prepared)> done) {
  const uint64_t number = ++numbers_;
  const size_t at = requests_.size();
  working_[request.run] = number;
  requests_.push_back(std::move(request));
  events_.In(takes, [this, number, at, done = std::move(done)] {
    const engine::PrepareRequest& asked = requests_[at];
    const auto found = working_.find(asked.run);
    if (found == working_.end() || found->second != number) return;
    working_.erase(found);
    engine::Prepared prepared{asked.run, asked.attempt,  "/envs/e1/bin/python3",
                              {},        "/envs/e1/bin", {}};
    prepared.images = images;
    if (fails) prepared.failure = fails(asked);
    done(std::move(prepared));
  });
}

}  // namespace caip::harness
