#pragma once
// How a command gets a connection to an emulator.

#include <functional>
#include <memory>

#include "base/result.h"
#include "client/connection.h"
#include "emulator/app/settings/emulator_flags.h"

namespace caip::app {

/// How the emulator is to live when none is running yet.
enum class Lifetime {
  kBackground,   // started detached; ends by itself when idle
  kThisCommand,  // inside this process; leaves nothing behind (--stream-logs)
  kBriefly,      // as kThisCommand, but in the background where unfinished jobs are to continue
};

/// Finds or starts an emulator: a server that runs already, one started in the background, or one
/// inside this process. Called only once the client's own checks have passed.
using Connect = std::function<Result<std::unique_ptr<client::Connection>>(
    const EmulatorFlags& flags, Lifetime)>;

}  // namespace caip::app
