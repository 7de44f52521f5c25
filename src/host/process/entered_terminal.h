#pragma once
// The terminal of a person, connected to a program that has a terminal of its own.

#include <signal.h>
#include <sys/types.h>

#include "base/files.h"

namespace caip::host {

/// Takes the signals that a person or another process sends to this process, as long as it exists.
/// Made before the program starts, so that none is lost. Child processes inherit a mask that they
/// must reset.
class TakenSignals {
 public:
  TakenSignals();
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;
  ~TakenSignals();

  int descriptor() const { return descriptor_.get(); }
  /// The number of the next signal; 0: none is left.
  int Next() const;

 private:
  sigset_t before_{};
  Fd descriptor_;
};

/// Whether a person sits at the standard input and output.
bool IsAtTerminal();

/// Passes the bytes of the standard streams to and from a pseudoterminal until `program`, a child,
/// has ended, and follows the size of the window. The person's terminal passes all keys on
/// meanwhile. Signals that ask this process to end go to the program. Returns its native status.
int ServeTerminal(const TakenSignals& signals, const Fd& terminal, pid_t program);

/// Waits until `program`, a child, has ended, and passes signals on to its process group.
int AwaitProgram(const TakenSignals& signals, pid_t program);

}  // namespace caip::host
