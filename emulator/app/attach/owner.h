#pragma once
// The emulator that owns a state directory: starting one in the background, and ending it.

#include <chrono>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "emulator/app/settings/emulator_flags.h"
#include "host/store/state_directory.h"

namespace caip::app {

/// The variable with the descriptor to which a background server writes its URL when it serves.
inline constexpr char kReadyVariable[] = "CAIP_READY_FD";

/// Written instead of the URL if the state directory has another owner.
inline constexpr char kTakenWord[] = "taken";

/// How a server is started in the background.
struct ServerStart {
  Path program = "/proc/self/exe";             // of `caip serve`
  std::chrono::milliseconds patience{30'000};  // for its URL
  /// From SIGTERM to SIGKILL, for a server that does not serve in time.
  std::chrono::milliseconds end_patience{5'000};
};

/// Starts `caip serve` with these flags, detached from this process and its terminal, and waits
/// until it serves. Its messages go to <state>/server.log. Returns its URL; an error contains the
/// server's own message. A server that does not serve in time is ended. kAborted: another server
/// was faster, so look again.
Result<std::string> StartInBackground(const EmulatorFlags& flags, const Path& state,
                                      const ServerStart& start = {});

/// Asks the owner to end and waits for its end, also if it is already ending and no longer answers.
/// An owner that does not serve yet gets SIGTERM. False if there is no owner.
Result<bool> StopOwner(const Path& state);

/// Asks an owner that a command started in the background to end, if no job is unfinished and no
/// other command uses it, and waits for its end. False: it goes on.
bool EndOwnerIfUnused(const host::StateOwner& owner);

/// The flags as arguments of `caip serve`.
std::vector<std::string> FlagWords(const EmulatorFlags& flags);
/// Whether each flag of `wanted` is in `present` with the same value. Both come from FlagWords.
bool HasFlags(const std::vector<std::string>& present, const std::vector<std::string>& wanted);
/// `flags`, and those of `present` (from FlagWords) that they do not replace. Flags that may be
/// repeated keep all values.
EmulatorFlags WithFlags(const std::vector<std::string>& present, EmulatorFlags flags);

}  // namespace caip::app
