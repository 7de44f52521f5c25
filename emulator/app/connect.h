#pragma once
// Where a command finds its emulator: running already, in the background, or inside the command.

#include "emulator/cli/connection.h"

namespace caip::app {

/// cli::Connect as the program uses it. Flags that a running emulator was not started with are an
/// error that says so: they cannot take effect any more.
Result<std::unique_ptr<cli::Connection>> ConnectToEmulator(const cli::EmulatorFlags& flags,
                                                           cli::Lifetime lifetime);

}  // namespace caip::app
