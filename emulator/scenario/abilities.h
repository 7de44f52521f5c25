#pragma once
// Whether this host and its launcher can run a scenario.

#include <string>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "emulator/app/settings/options.h"
#include "harness/scenario/scenario.h"
#include "host/launcher_bundle.h"

namespace caip::scenario {

/// Describes what the scenario needs and this host lacks; "" if nothing is missing.
std::string DescribeMissingAbility(const harness::Scenario& scenario);

/// Describes the machines or programs that the scenario's faults or its cluster need and this host
/// lacks; "" if none. Machines that the user has turned off are not missing. `directory`: of the
/// runs.
std::string DescribeMissingExtra(const harness::Scenario& scenario,
                                 const app::EmulatorOptions& options, const Path& directory);

/// The interpreter of this host that would run the job's Python package; "" if the job has no
/// package or no interpreter is suitable.
std::string PythonOfPackage(const harness::JobKind& kind, const Json& document,
                            const app::EmulatorOptions& options);

/// Describes the GPUs that the scenario needs and jobs of these options do not get; "" if none.
/// Fake GPUs do not count: no program can compute on them.
std::string DescribeMissingGpus(const harness::Scenario& scenario,
                                const app::EmulatorOptions& options);

/// Describes the Python modules that the scenario needs and its interpreter lacks; "" if none. The
/// interpreter is `package_python`, or if that is "", the one of the scenario's command.
std::string DescribeMissingModules(const harness::Scenario& scenario,
                                   const std::string& package_python);

/// kUnimplemented if the scenario needs an ability that the launcher lacks.
Status CheckAbilities(const harness::Scenario& scenario, const host::LauncherBundle& replicas);

/// Whether the disk of this directory is full.
bool IsFull(const Path& directory);

}  // namespace caip::scenario
