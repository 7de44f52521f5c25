#pragma once
// Whether this host and its launcher can run a scenario.

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "harness/scenario/scenario.h"
#include "host/launcher_bundle.h"

namespace caip::scenario {

/// Describes what the scenario needs and this host lacks; "" if nothing is missing.
std::string DescribeMissingAbility(const harness::Scenario& scenario);

/// Describes the Python modules that the scenario needs and its interpreter lacks; "" if none.
std::string DescribeMissingModules(const harness::Scenario& scenario);

/// kUnimplemented if the scenario needs an ability that the launcher lacks.
Status CheckAbilities(const harness::Scenario& scenario, const host::LauncherBundle& replicas);

/// Whether the disk of this directory is full.
bool IsFull(const Path& directory);

}  // namespace caip::scenario
