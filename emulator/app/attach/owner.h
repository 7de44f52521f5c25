#pragma once
// The emulator that owns a state directory now: finding it, starting one, ending it.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "emulator/app/settings/emulator_flags.h"

namespace caip::app {

/// Names the descriptor on which a background server tells its URL once it serves.
inline constexpr char kReadyVariable[] = "CAIP_READY_FD";

/// What it tells instead where the state directory has another owner.
inline constexpr char kTakenWord[] = "taken";

/// Starts `caip serve` detached from this process and its terminal, with these flags, and waits
/// until it serves; its messages go to <state>/server.log. The answer is its URL; the error has the
/// server's own words. kAborted: another was faster, so look again.
Result<std::string> StartInBackground(const EmulatorFlags& flags, const Path& state);

/// Asks the owner to end and waits until it has. False where there is none.
Result<bool> StopOwner(const Path& state);

/// The words that give `caip serve` these flags.
std::vector<std::string> FlagWords(const EmulatorFlags& flags);

}  // namespace caip::app
