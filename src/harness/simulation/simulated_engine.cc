#include "harness/simulation/simulated_engine.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/launch.h"
#include "ml/render.h"

namespace caip::harness {

SimulatedEngine::SimulatedEngine(engine::EngineOptions given) : options(std::move(given)) {
  options.journal = [this](const engine::RunKey& run, const std::string& what) {
    if (keep_journal) journal.push_back(run.job_id + " " + what);
  };
}

void SimulatedEngine::Boot() {
  api = std::make_unique<ml::TrainingApi>(api_options, storage);
  engine =
      std::make_unique<engine::Engine>(options,
                                       engine::EnginePorts{launcher, packager, devices, addresses,
                                                           store, log, *api, executor, &launcher},
                                       clock);
  const Status recovered = engine->Recover();
  assert(recovered.ok() && "a store in memory can be read");
  (void)recovered;
}

void SimulatedEngine::KillEmulator() {
  engine.reset();
  events.Clear();
  launcher.LoseAll();
  packager.LoseAll();
  devices.LoseAll();
  addresses.LoseAll();
  while (clock.holders() > 0) clock.Release();
}

bool SimulatedEngine::Step() {
  engine->Turn();
  const Instant next = std::min(events.Next(), engine->NextDeadline());
  if (next == kNever) return false;
  clock.MoveTo(next);
  events.RunDue();
  engine->Turn();
  if (after_step) after_step();
  return true;
}

void SimulatedEngine::RunFor(Duration time) {
  bool over = false;
  events.In(time, [&] { over = true; });
  RunUntil([&] { return over; });
}

Result<ml::Job> SimulatedEngine::Submit(ml::Job job) {
  Result<ml::Job> result = Error{};
  run::AcceptedJob accepted = api->Take("p", std::move(job));
  engine::ImageAnswers images = engine::ResolvePrograms(accepted.job->spec(), launcher).images;
  engine->SubmitLater({std::move(accepted), std::move(images)},
                      [&](const Result<run::Job>& answer) {
                        result = answer.ok() ? ml::RenderJob(*answer) : answer.error();
                      });
  engine->Turn();
  return result;
}

Result<run::Job> SimulatedEngine::Update(const std::string& id, engine::DocumentChange change) {
  Result<run::Job> result = Error{};
  engine->UpdateLater("p", id, std::move(change),
                      [&](Result<run::Job> answer) { result = std::move(answer); });
  engine->Turn();
  return result;
}

Status SimulatedEngine::Cancel(const std::string& id) {
  Status result = Error{};
  engine->CancelLater("p", id, [&](Status answer) { result = std::move(answer); });
  engine->Turn();
  return result;
}

Status SimulatedEngine::LoseVm(const std::string& id, const run::ReplicaId& replica,
                               engine::VmLoss kind, const std::string& trial) {
  Status result = Error{};
  engine->LoseVmLater({"p", id, trial}, replica, kind,
                      [&](Status answer) { result = std::move(answer); });
  engine->Turn();
  return result;
}

ml::Job SimulatedEngine::JobOf(const std::string& id) const {
  const auto job = engine->Get("p", id);
  if (!job.ok()) return {};
  auto rendered = ml::RenderJob(*job);
  return rendered.ok() ? *std::move(rendered) : ml::Job{};
}

}  // namespace caip::harness
