#pragma once
// Opens the launcher that an emulator's options select.

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/api/control/control.h"
#include "emulator/app/kept_state.h"
#include "emulator/app/settings/options.h"
#include "engine/ports.h"
#include "host/launcher_bundle.h"

namespace caip::app {

/// A line for the user: why replicas have no machines of their own on this host.
std::string NoMachinesNote(const std::string& why_not);

/// Chooses what replicas are, if the options leave it to the host. Returns a note for the user if
/// they cannot be machines, else "".
std::string ChooseIsolation(EmulatorOptions& options);

/// Finds the replicas of jobs that run. `replicas` outlives the result.
api::FindRunning RunningReplicasOf(const host::LauncherBundle& replicas);

/// `output` takes what replicas print. The parts of `state`, `clock` and `output` must outlive the
/// bundle.
Result<host::LauncherBundle> OpenReplicaHost(const EmulatorOptions& options, const KeptState& state,
                                             Clock& clock, engine::LogSink& output);

}  // namespace caip::app
