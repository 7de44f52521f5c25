#pragma once
// The lock of a state directory that caip-launcher and the inits of its replicas inherit. For the
// inits of machines, a process outside of them holds it (launcher/lock_keeper.h). After the end of
// the emulator, also by a kill, it is free when all replicas are dead and no other one can start.
// Removals (launcher/removal.h) that still run do not hold it.

#include <chrono>
#include <functional>

#include "base/files.h"

namespace caip::host {

/// Much less than a command waits for a server that it has started (emulator/app/attach/owner.h),
/// so that the server's error reaches the command.
inline constexpr std::chrono::seconds kLauncherPatience{20};

/// Waits until the replicas of earlier emulators are dead. kDeadlineExceeded: one still lives.
/// kCancelled: one still lives, and `interrupted` (empty: never) is true.
Result<Fd> LockForLaunchers(const Path& state_directory,
                            std::chrono::milliseconds patience = kLauncherPatience,
                            const std::function<bool()>& interrupted = {});

}  // namespace caip::host
