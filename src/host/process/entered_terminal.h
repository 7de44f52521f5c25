#pragma once
// The terminal of a person, connected to a program that has a terminal of its own.

#include <sys/types.h>

#include "base/files.h"

namespace caip::host {

/// Whether a person sits at the standard input and output.
bool IsAtTerminal();

/// Passes the bytes of the standard streams to and from a pseudoterminal until `program`, a child,
/// has ended, and follows the size of the window. The person's terminal passes all keys on
/// meanwhile. Signals that ask this process to end go to the program. Returns its native status.
int ServeTerminal(const Fd& terminal, pid_t program);

/// Waits until `program`, a child, has ended, and passes signals on to its process group.
int AwaitProgram(pid_t program);

}  // namespace caip::host
