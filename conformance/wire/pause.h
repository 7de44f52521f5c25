#pragma once
// Waits between two attempts, and interrupts by Ctrl-C.

#include <chrono>

namespace conform {

/// Waits. Returns at once if the run is interrupted.
void Pause(std::chrono::milliseconds time);

/// From now on, a first SIGINT or SIGTERM only marks the run as interrupted; a second one ends the
/// process.
void WatchForInterrupts();
bool Interrupted();

}  // namespace conform
