#include "emulator/scenario/run_scenario.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "emulator/scenario/abilities.h"
#include "emulator/scenario/built_job.h"
#include "emulator/scenario/errors.h"
#include "emulator/scenario/run_settings.h"
#include "emulator/scenario/scenario_run.h"

namespace caip::scenario {
namespace {

using harness::Evidence;
using harness::Scenario;
using harness::ScenarioResult;

std::atomic<int> runs{0};

/// The folder of one run. The destructor removes it unless `keep` is set.
class RunDirectory {
 public:
  RunDirectory(const Path& workshop, bool keep)
      : path_(workshop / ("run-" + std::to_string(++runs))), keep_(keep) {}
  ~RunDirectory() {
    if (!keep_) RemoveTree(path_);
  }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  const Path& path() const { return path_; }

 private:
  Path path_;
  bool keep_;
};

Result<Evidence> RunOnce(const Scenario& scenario, const RunScenarioOptions& options,
                         const RunSettings& settings, bool disturbed, const Path& state) {
  RETURN_IF_ERROR(MakeDirectories(state));
  RunOptions run_options;
  run_options.state = state;
  run_options.caches = options.workshop / "caches";
  run_options.disturbed = disturbed;
  run_options.seed = scenario.seed;
  run_options.interrupted = options.interrupted;
  run_options.read_words = options.read_words;
  run_options.settings = settings;
  return ScenarioRun(scenario, std::move(run_options)).Run();
}

// The job of the scenario; null if its words or its package have mistakes, which the run reports.
Json DocumentOf(const Scenario& scenario, const ReadJobWords& read) {
  if (scenario.words.empty()) return scenario.document;
  auto words = ReadWordsOf(scenario, read);
  if (!words.ok()) return nullptr;
  auto document = MergedDocument(*std::move(words));
  return document.ok() ? *std::move(document) : Json();
}

// Why a scenario is skipped; "" if it is not. A user who names the file of a scenario wants to see
// it run, unless the scenario states a need.
std::string DescribeMissing(const Scenario& scenario, const RunScenarioOptions& options,
                            const RunSettings& settings) {
  const std::string missing =
      options.is_from_folder ? DescribeMissingExtra(scenario, settings.options, options.workshop)
                             : "";
  return missing.empty() ? DescribeMissingNeeds(scenario, settings, options.read_words) : missing;
}

std::string ReplayCommand(const Scenario& scenario, const RunScenarioOptions& options) {
  return "caip scenario run " + ShellQuoted(scenario.file.string()) + " --seed " +
         std::to_string(scenario.seed) + options.repeated_flags + RepeatedFlags(options.flags);
}

Status WriteEvents(const Path& file, const Scenario& scenario, const ScenarioResult& result) {
  const bool posix = scenario.semantics == harness::Semantics::kPosix;
  std::string lines = CompactJson(harness::EventListHead(result.file, result.description,
                                                         result.seed, posix ? "posix" : "object")) +
                      "\n";
  for (const harness::Event& event : result.run.events) {
    lines += CompactJson(ToJson(event)) + "\n";
  }
  lines += CompactJson(harness::EventListEnd(result)) + "\n";
  return WriteFile(file, lines);
}

Status RunWithBaseline(const Scenario& scenario, const RunScenarioOptions& options,
                       const RunSettings& settings, ScenarioResult& result) {
  std::optional<Evidence> twin;
  if (scenario.needs_twin()) {
    const RunDirectory directory(options.workshop, false);
    ASSIGN_OR_RETURN(twin, RunOnce(scenario, options, settings, false, directory.path()));
    if (twin->state != "SUCCEEDED") {
      return errors::BaselineRunFailed(*twin);
    }
  }
  const RunDirectory directory(options.workshop, options.keep);
  ASSIGN_OR_RETURN(result.run, RunOnce(scenario, options, settings, true, directory.path()));
  result.verdict = harness::DecideVerdict(scenario, result.run, twin ? &*twin : nullptr);
  const harness::ServiceDelays& service = scenario.service_delays;
  if (service.vm_lifetime) result.cost = MeasurePreemptions(result.run, service.step_time);
  return Ok{};
}

// Whether the user interrupted the run, so that it has no verdict.
bool WasInterrupted(const RunScenarioOptions& options, const ScenarioResult& result,
                    bool is_judged) {
  if (!options.interrupted || !options.interrupted()) return false;
  return !is_judged || result.run.broke_off == "interrupted";  // set by scenario_run.cc
}

}  // namespace

Result<Scenario> ReadScenarioFile(const Path& file) {
  auto scenario = harness::ReadScenario(file);
  if (!scenario.ok() && harness::IsJobConfig(file)) return errors::JobConfig(file);
  return scenario;
}

std::string DescribeMissingNeeds(const Scenario& scenario, const RunSettings& settings,
                                 const ReadJobWords& read) {
  std::vector<std::string> missing = {DescribeMissingGpus(scenario, settings.options)};
  if (!scenario.modules.empty()) {
    missing.push_back(DescribeMissingModules(
        scenario, PythonOfPackage(*scenario.kind, DocumentOf(scenario, read), settings.options)));
  }
  std::erase(missing, "");
  return Join(missing, "; ");
}

ScenarioResult RunScenario(const Path& file, const RunScenarioOptions& options) {
  ScenarioResult result;
  result.file = file.string();
  const auto begin = MonotonicNow();
  auto scenario = ReadScenarioFile(file);
  if (!scenario.ok()) {
    const bool is_skipped = options.is_from_folder && harness::IsJobConfig(file);
    (is_skipped ? result.not_run : result.error) = scenario.error().message;
    return result;
  }
  const auto settings = ReadSettingsOfScenario(options.flags, options.read_words, *scenario);
  if (!settings.ok()) {
    result.error = settings.error().message;
    return result;
  }
  if (options.seed) scenario->seed = *options.seed;
  if (options.preempt) scenario->service_delays.vm_lifetime = options.preempt;
  if (options.step_time) scenario->service_delays.step_time = options.step_time;
  result.description = scenario->description;
  result.seed = scenario->seed;
  result.replay = ReplayCommand(*scenario, options);
  result.not_run = DescribeMissing(*scenario, options, *settings);
  if (!result.not_run.empty()) return result;
  if (const std::string missing = DescribeMissingAbility(*scenario); !missing.empty()) {
    result.error = "this host cannot run the scenario: " + missing;
    result.cannot = true;
    return result;
  }
  const Status done = RunWithBaseline(*scenario, options, *settings, result);
  if (!done.ok()) {
    const Code code = done.error().code;
    result.error = done.error().message;
    result.cannot = code == Code::kResourceExhausted || code == Code::kUnimplemented;
    result.ours = code == Code::kInternal || code == Code::kUnavailable;
  }
  result.took = MonotonicNow() - begin;
  if (WasInterrupted(options, result, done.ok())) {
    result.not_run = "interrupted";
    result.error.clear();
    result.cannot = result.ours = false;
  }
  if (options.events) {
    const Status written = WriteEvents(*options.events, *scenario, result);
    if (!written.ok() && result.error.empty()) result.error = written.error().message;
  }
  return result;
}

Result<std::unique_ptr<Workshop>> Workshop::Open(const Path& state, bool keeps) {
  const Path root = state / "scenarios";
  RETURN_IF_ERROR(MakeDirectories(root));
  if (!keeps) {  // the name is short, because sockets below it have at most 107 bytes
    ASSIGN_OR_RETURN(TemporaryDirectory made, TemporaryDirectory::MakeIn(root, "p-"));
    return std::unique_ptr<Workshop>(new Workshop(std::move(made)));
  }
  std::string path = (root / "kept-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return CannotMakeDirectory(path, errno);
  return std::unique_ptr<Workshop>(new Workshop(Path(path)));
}

}  // namespace caip::scenario
