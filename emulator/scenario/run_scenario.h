#pragma once
// Runs a scenario from its file to its verdict: baseline run, run, verdict, event list.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/app/settings/emulator_flags.h"
#include "emulator/scenario/job_words.h"
#include "emulator/scenario/run_settings.h"
#include "harness/scenario/report.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

struct RunScenarioOptions {
  Path workshop;                                         // the folder of all runs
  std::optional<uint64_t> seed;                          // overrides the scenario's seed
  std::optional<Path> events;                            // the file for the event list
  std::optional<harness::MachineLifetime> preempt = {};  // overrides the scenario's
  std::optional<Duration> step_time = {};                // the same
  std::string repeated_flags = {};  // of those two, for the command that repeats the run
  bool keep = false;                // keeps the folder of the run
  std::function<bool()> interrupted = nullptr;
  ReadJobWords read_words = nullptr;  // for scenarios with words
  app::EmulatorFlags flags = {};      // of the command
  bool is_from_folder = false;  // the user named a folder, which may have other YAML files, too
};

/// Like harness::ReadScenario. The error about the config of a job says that it is one.
Result<harness::Scenario> ReadScenarioFile(const Path& file);

/// Describes which `needs` of the scenario this host does not meet, so that the scenario is
/// skipped; "" if it meets all.
std::string DescribeMissingNeeds(const harness::Scenario& scenario, const RunSettings& settings,
                                 const ReadJobWords& read);

/// If the scenario cannot run, `ScenarioResult::error` says why.
harness::ScenarioResult RunScenario(const Path& file, const RunScenarioOptions& options);

/// A new folder below `state` for the runs of a command. Open removes the folders of commands that
/// were killed. The destructor removes the folder, unless the command keeps it.
class Workshop {
 public:
  static Result<std::unique_ptr<Workshop>> Open(const Path& state, bool keeps = false);
  const Path& path() const { return path_; }

 private:
  explicit Workshop(TemporaryDirectory made) : made_(std::move(made)), path_(made_->path()) {}
  explicit Workshop(Path kept) : path_(std::move(kept)) {}
  std::optional<TemporaryDirectory> made_;  // none: the folder stays
  Path path_;
};

}  // namespace caip::scenario
