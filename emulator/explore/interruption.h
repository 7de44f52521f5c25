#pragma once
// What happens to a replica at a crash point.

#include <string>

#include "harness/explorer/crash_point.h"
#include "harness/faults/fault.h"

namespace caip::explore {

enum class Interruption {
  kMachineLost,    // without warning; the next machine has a new disk
  kProcessKilled,  // machine and disk stay
  kNotice,         // SIGTERM, limits.grace, SIGKILL; a new disk
  kStorageError,   // the operation is refused with 503; after it: it was done, and its answer is
                   // lost
  kCutOff,         // no packet passes between the replica and storage for 3 seconds
};

/// "machine_lost", as in reports.
const char* Name(Interruption what);

/// "the machine goes away before create job/out/x by master-0".
std::string Describe(Interruption what, const harness::CrashPoint& point);

/// What a task's name has after its points: ", its disk is kept". "" for kMachineLost.
const char* SuffixOf(Interruption what);

/// Whether the replica starts again.
bool Restarts(Interruption what);

harness::Fault MakeInterruption(Interruption what, std::string name,
                                const harness::CrashPoint& point);

/// The same fault as lines of a scenario. It need not be reached.
std::string FaultLines(Interruption what, const harness::CrashPoint& point);

}  // namespace caip::explore
