#include "emulator/scenario/playing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/quoting.h"
#include "emulator/scenario/abilities.h"
#include "emulator/scenario/errors.h"
#include "emulator/scenario/scenario_run.h"

namespace caip::scenario {
namespace {

using harness::Evidence;
using harness::Played;
using harness::Scenario;

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

Result<Evidence> RunOnce(const Scenario& scenario, const PlayOptions& options, bool disturbed,
                         const Path& state) {
  RETURN_IF_ERROR(MakeDirectories(state));
  RunOptions run_options;
  run_options.state = state;
  run_options.caches = options.workshop / "caches";
  run_options.disturbed = disturbed;
  run_options.seed = scenario.seed;
  run_options.interrupted = options.interrupted;
  run_options.read_words = options.read_words;
  return ScenarioRun(scenario, std::move(run_options)).Run();
}

std::string ReplayCommand(const Scenario& scenario) {
  return "caip scenario run " + ShellQuoted(scenario.file.string()) + " --seed " +
         std::to_string(scenario.seed);
}

Status WriteEvents(const Path& file, const Scenario& scenario, const Played& played) {
  const bool posix = scenario.semantics == harness::Semantics::kPosix;
  std::string lines = CompactJson(harness::EventListHead(played.file, played.description,
                                                         played.seed, posix ? "posix" : "object")) +
                      "\n";
  for (const harness::Event& event : played.run.events) {
    lines += CompactJson(ToJson(event)) + "\n";
  }
  lines += CompactJson(harness::EventListEnd(played)) + "\n";
  return WriteFile(file, lines);
}

Status PlayBoth(const Scenario& scenario, const PlayOptions& options, Played& played) {
  std::optional<Evidence> twin;
  if (scenario.needs_twin()) {
    const RunDirectory directory(options.workshop, false);
    ASSIGN_OR_RETURN(twin, RunOnce(scenario, options, false, directory.path()));
    if (twin->state != "SUCCEEDED") {
      return errors::BaselineRunFailed(twin->state, twin->error_message + twin->broke_off);
    }
  }
  const RunDirectory directory(options.workshop, options.keep);
  ASSIGN_OR_RETURN(played.run, RunOnce(scenario, options, true, directory.path()));
  played.verdict = harness::DecideVerdict(scenario, played.run, twin ? &*twin : nullptr);
  return Ok{};
}

// Whether the user interrupted the run, so that it has no verdict.
bool WasInterrupted(const PlayOptions& options, const Played& played, bool is_judged) {
  if (!options.interrupted || !options.interrupted()) return false;
  return !is_judged || played.run.broke_off == "interrupted";  // set by scenario_run.cc
}

}  // namespace

Played Play(const Path& file, const PlayOptions& options) {
  Played played;
  played.file = file.string();
  const auto begin = MonotonicNow();
  auto scenario = harness::ReadScenario(file);
  if (!scenario.ok()) {
    played.error = scenario.error().message;
    return played;
  }
  if (options.seed) scenario->seed = *options.seed;
  played.description = scenario->description;
  played.seed = scenario->seed;
  played.replay = ReplayCommand(*scenario);
  if (const std::string missing = DescribeMissingAbility(*scenario); !missing.empty()) {
    played.error = "this host cannot play the scenario: " + missing;
    played.cannot = true;
    return played;
  }
  const Status done = PlayBoth(*scenario, options, played);
  if (!done.ok()) {
    const Code code = done.error().code;
    played.error = done.error().message;
    played.cannot = code == Code::kResourceExhausted || code == Code::kUnimplemented;
    played.ours = code == Code::kInternal || code == Code::kUnavailable;
  }
  played.took = MonotonicNow() - begin;
  if (WasInterrupted(options, played, done.ok())) {
    played.not_run = "interrupted";
    played.error.clear();
    played.cannot = played.ours = false;
  }
  if (options.events) {
    const Status written = WriteEvents(*options.events, *scenario, played);
    if (!written.ok() && played.error.empty()) played.error = written.error().message;
  }
  return played;
}

Result<std::unique_ptr<Workshop>> Workshop::Open(const Path& state) {
  const Path root = state / "scenarios";
  RETURN_IF_ERROR(MakeDirectories(root));
  std::error_code error;
  for (std::filesystem::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const Fd lock(::open((entry->path() / "lock").c_str(), O_RDWR | O_CLOEXEC));
    if (lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) RemoveTree(entry->path());
  }
  std::unique_ptr<Workshop> made(new Workshop());
  made->path_ = root / ("play-" + std::to_string(::getpid()) + "-" + std::to_string(++runs));
  RETURN_IF_ERROR(MakeDirectories(made->path_));
  made->lock_ = Fd(::open((made->path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!made->lock_.valid() || ::flock(made->lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return SystemError("cannot lock '" + made->path_.string() + "'", errno);
  }
  return made;
}

Workshop::~Workshop() {
  std::error_code ignored;
  std::filesystem::remove(path_ / "lock", ignored);
  if (!keep_) RemoveTree(path_);
}

}  // namespace caip::scenario
