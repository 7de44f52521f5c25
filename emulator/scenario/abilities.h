#pragma once
// What a scenario asks of this host.

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "harness/scenario/scenario.h"
#include "host/launcher_bundle.h"

namespace caip::scenario {

/// What the scenario needs and this host lacks, in words; "" nothing.
std::string LackOf(const harness::Scenario& scenario);

/// kUnimplemented, when the scenario needs something of the launcher that it cannot do.
Status CheckAbilities(const harness::Scenario& scenario, const host::LauncherBundle& replicas);

/// Whether there is no room on the disk that has this directory.
bool IsFull(const Path& directory);

}  // namespace caip::scenario
