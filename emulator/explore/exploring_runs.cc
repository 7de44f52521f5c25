#include "emulator/explore/exploring_runs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "emulator/scenario/run_isolation.h"
#include "host/machine/addresses.h"

namespace caip::explore {

using harness::Evidence;

namespace {

// Whether a line has the words of EADDRINUSE.
bool ReportsPortInUse(const Evidence& run) {
  return std::ranges::any_of(run.events, [](const harness::Event& event) {
    const auto* line = event.As<harness::LogEvent>();
    return line && line->message.find("ddress already in use") != std::string::npos;
  });
}

}  // namespace

// Replicas must be the same in all runs: machines, or processes.
void ExploreRuns::OpenMemory() {
  memory_ = host::MemoryDirectory::Open(
      options_.workshop, written_ * static_cast<uint64_t>(std::max<int64_t>(1, options_.jobs)));
  const app::EmulatorOptions& asked = options_.settings.options;
  const auto isolation_in = [&](const Path& place) { return scenario::IsolationOf(asked, place); };
  if (memory_ && isolation_in(memory_->path()) != isolation_in(options_.workshop)) memory_.reset();
}

Status ExploreRuns::MakeBlocks() {
  ASSIGN_OR_RETURN(harness::BlockStore blocks,
                   harness::BlockStore::Make(options_.workshop, kKeptBytesMax));
  blocks_ = std::make_shared<harness::BlockStore>(std::move(blocks));
  return Ok{};
}

// A run alone shows what the trainer does, whatever the reason of the first failure was. While
// another program has the port, it shows nothing: trainers may need the port of the service.
Result<Evidence> ExploreRuns::Run(const harness::Scenario& scenario,
                                  const scenario::RunOptions& run_options,
                                  std::vector<harness::Event>* all_events) {
  const size_t together = turns_.Begin(one_by_one_);
  Attempt first = Try(scenario, run_options, all_events);
  const bool had_company = turns_.End(together);
  if (had_company && MayHaveClashed(first)) {
    const size_t alone = turns_.Begin(true);
    if (!first.lacked_port || !host::IsTaskPortTaken()) {
      first = Try(scenario, run_options, all_events);
      if (!MayHaveClashed(first)) one_by_one_ = true;
    }
    turns_.End(alone);
  }
  if (first.lacked_port) lack_port_ = true;
  return std::move(first.evidence);
}

// Only processes of this host share its ports.
bool ExploreRuns::MayHaveClashed(const Attempt& attempt) const {
  if (attempt.lacked_port) return true;
  if (!attempt.evidence.ok() || attempt.evidence->state != "FAILED") return false;
  const bool are_processes = scenario::IsolationOf(options_.settings.options, options_.workshop) ==
                             app::Isolation::kProcess;
  return are_processes && ReportsPortInUse(*attempt.evidence);
}

ExploreRuns::Attempt ExploreRuns::Try(const harness::Scenario& scenario,
                                      const scenario::RunOptions& run_options,
                                      std::vector<harness::Event>* all_events) {
  if (!memory_ || memory_is_full_) {
    return TryIn(options_.workshop, scenario, run_options, all_events);
  }
  Attempt attempt = TryIn(memory_->path(), scenario, run_options, all_events);
  const auto& evidence = attempt.evidence;
  if (evidence.ok() || evidence.error().code != Code::kResourceExhausted) return attempt;
  memory_is_full_ = true;
  return TryIn(options_.workshop, scenario, run_options, all_events);
}

ExploreRuns::Attempt ExploreRuns::TryIn(const Path& place, const harness::Scenario& scenario,
                                        scenario::RunOptions run_options,
                                        std::vector<harness::Event>* all_events) {
  const bool in_memory = memory_ && place == memory_->path();
  if (in_memory) run_options.overfull = [this] { return memory_->IsOverfull(); };
  run_options.state = place / ("explore-" + std::to_string(++runs_));
  run_options.caches = options_.workshop / "caches";
  run_options.volumes = options_.volumes;
  run_options.blocks = blocks_;
  run_options.seed = scenario.seed;
  run_options.interrupted = options_.interrupted;
  run_options.read_words = options_.read_words;
  run_options.settings = options_.settings;
  const Path state = run_options.state;
  if (const Status made = MakeDirectories(state); !made.ok()) return {made.error()};
  auto run = std::make_unique<scenario::ScenarioRun>(scenario, std::move(run_options));
  Attempt attempt{run->Run()};
  attempt.lacked_port = run->lacked_task_port();
  run.reset();
  if (attempt.evidence.ok()) {
    std::vector<harness::Event> events = TakeAllEvents(*attempt.evidence);
    if (all_events) *all_events = std::move(events);
  }
  if (!memory_) written_ = std::max(written_.load(), host::BytesBelow(state));
  RemoveTree(state);
  return attempt;
}

Records::Records(const Path& directory, bool are_needed,
                 std::shared_ptr<harness::BlockStore> blocks) {
  if (!are_needed) return;
  buckets_.emplace(directory);
  if (blocks) files_.emplace(std::move(blocks));
}

void Records::AddTo(scenario::RunOptions& run_options, const ExploreTask& task) {
  if (buckets_) run_options.recorder = &*buckets_;
  if (!files_) return;
  files_->Continue(Prefix(task));
  run_options.files = &*files_;
}

Result<RecordedRun> Records::Take() const {
  RecordedRun run;
  if (buckets_) RETURN_IF_ERROR(buckets_->outcome());
  if (buckets_) run.states = buckets_->states();
  if (files_) RETURN_IF_ERROR(files_->outcome());
  if (files_) run.files = files_->log();
  return run;
}

}  // namespace caip::explore
