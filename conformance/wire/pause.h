#pragma once
// Waiting between two looks at something that is not ready yet; cut short by Ctrl-C.

#include <chrono>

namespace conform {

/// Waits, or comes back at once when the run was interrupted.
void Pause(std::chrono::milliseconds time);

/// From here on SIGINT and SIGTERM only note that the run was interrupted; a second one ends us.
void WatchForInterrupts();
bool Interrupted();

}  // namespace conform
