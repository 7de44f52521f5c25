#pragma once
// The options of the Cloud SDK's emulators.

#include "emulator/app/settings/options.h"
#include "host/companions/companions.h"
#include "host/process/child_process.h"

namespace caip::app {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// `own`: this process's environment. The emulators get the variables that Java and the host need.
host::CompanionOptions CompanionsOf(const EmulatorOptions& options, const Variables& own);

/// The project that this process's environment names, else demo-project.
std::string ProjectOf(const Variables& own);

}  // namespace caip::app
