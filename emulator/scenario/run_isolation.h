#pragma once
// What the replicas of scenarios are: processes of this host, or machines.

#include <string>

#include "base/files.h"
#include "emulator/app/settings/emulator_flags.h"
#include "emulator/app/settings/options.h"

namespace caip::scenario {

/// The reason why the replicas of runs below a directory cannot be machines; "" if they can: the
/// host allows machines there, and lets caip hold their calls. A process tries each file
/// system once. Any thread.
std::string WhyNoMachinesBelow(const Path& directory);

/// Chooses what replicas are, if the options leave it to the host. `directory`: of the run.
app::Isolation IsolationOf(const app::EmulatorOptions& options, const Path& directory);

/// A line for the user if the scenarios of a command run on processes because this host allows no
/// machines; else "". `workshop`: the directory of all runs.
std::string IsolationNote(const app::EmulatorFlags& command, const Path& workshop);

}  // namespace caip::scenario
