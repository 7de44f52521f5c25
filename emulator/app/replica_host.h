#pragma once
// What replicas run on, as the options of an emulator ask for it.

#include "base/clock.h"
#include "base/result.h"
#include "emulator/app/kept_state.h"
#include "emulator/app/settings/options.h"
#include "engine/ports.h"
#include "host/launcher_bundle.h"

namespace caip::app {

/// Opens the launcher that `options` name. `output` takes what replicas print. `state` (what it
/// holds), `clock` and `output` must outlive the bundle.
Result<host::LauncherBundle> OpenReplicaHost(const EmulatorOptions& options, const KeptState& state,
                                             Clock& clock, engine::LogSink& output);

}  // namespace caip::app
