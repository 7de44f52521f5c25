#pragma once
// The settings of the emulators that check, scenario and explore start for their runs. All of these
// commands take them from here.

#include <string>

#include "base/result.h"
#include "emulator/app/settings/emulator_flags.h"
#include "emulator/app/settings/options.h"
#include "emulator/app/settings/settings_table.h"
#include "emulator/scenario/job_words.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The settings of runs. ScenarioRun adds those that a scenario states itself.
struct RunSettings {
  app::EmulatorOptions options = {};
};

/// Whether a replica of the job runs an image itself, not a command of this host or a Python
/// module.
bool BringsOwnFiles(const harness::Scenario& job, const app::EmulatorOptions& options);

/// For a job that the words of a command describe. `flags` are all flags of the command. Flags of
/// what a scenario states itself (seed, delays, storage view, addressing) change `job`. The
/// configuration of the state directory counts as it does for a submit.
Result<RunSettings> ReadSettingsOfJob(const app::EmulatorFlags& flags, harness::Scenario& job);

/// For a scenario. Its words may have flags, too; those of the command override them.
Result<RunSettings> ReadSettingsOfScenario(const app::EmulatorFlags& command,
                                           const ReadJobWords& read, harness::Scenario& scenario);

/// The flags of `words`, overridden by those of the command.
app::EmulatorFlags Merged(app::EmulatorFlags words, const app::EmulatorFlags& command);

/// Whether the jobs of a submit with these flags see storage as a directory.
Result<bool> UsesDirectories(const app::EmulatorFlags& flags);

/// Whether the setting is a flag of `scenario run`. That command has a seed of its own, and a
/// scenario maps images itself.
bool IsFlagOfScenarios(const app::Setting& setting);

/// The flags of a command that `scenario run` needs to repeat its runs, each after a blank; "" for
/// none.
std::string RepeatedFlags(const app::EmulatorFlags& command);

}  // namespace caip::scenario
