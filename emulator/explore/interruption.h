#pragma once
// What happens to a replica at a crash point.

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/explorer/crash_point.h"
#include "harness/faults/fault.h"

namespace caip::explore {

struct Interruption {
  enum Kind {
    kMachineLost,    // without warning; the next machine has a new disk
    kProcessKilled,  // machine and disk stay
    kNotice,         // SIGTERM, limits.grace, SIGKILL; a new disk
    kSecondNotice,   // the same, and SIGTERM again after the next change
    kHang,           // its processes are stopped, for kHangLasts
    kSlowStorage,    // the operation is late, by kStorageIsLate
    kStorageError,   // the operation is refused with 503; after it: it was done, and its answer is
                     // lost
    kFullVolumes,    // writes fail for lack of space until the replica ends, and it starts again
    kFullDisk,       // the same of writes to its own disk; it starts again on a new machine
    // Faults of the packets between the replica and `peer`, for kNetworkFaultLasts.
    kCutOff,   // none passes
    kDropped,  // none of the replica's arrives
    kLossy,    // a fraction is lost
    kDelayed,  // they arrive later
    kRefused,  // connections are reset and refused
    // The power fails: kMachineLost, and what was not synced is lost as harness::PowerLoss says.
    kLosesContents,
    kLosesOlderContents,
    kLosesNewestContents,
    kLosesNames,
    kProgramFails,  // it ends with an error, and starts once more before its job fails
  };
  // NOLINTNEXTLINE(google-explicit-constructor): a kind that needs no peer is an interruption
  Interruption(Kind what, std::string with = "") : kind(what), peer(std::move(with)) {}
  bool operator==(const Interruption&) const = default;

  Kind kind;
  std::string peer;  // a replica, or harness::kStoragePeer; "": the kind has none
};

inline constexpr std::chrono::seconds kNetworkFaultLasts{3};
inline constexpr std::chrono::seconds kHangLasts{3};
inline constexpr std::chrono::seconds kStorageIsLate{3};

/// "machine_lost", as in reports.
const char* Name(const Interruption& what);

/// "the machine goes away before create job/out/x by master-0".
std::string Describe(const Interruption& what, const harness::CrashPoint& point);

/// What a task's name has after its points: ", its disk is kept". "" for kMachineLost.
std::string SuffixOf(const Interruption& what);

/// How the power fails; nullopt for other interruptions.
std::optional<harness::PowerLoss> PowerLossOf(const Interruption& what);
/// The interruption of that kind.
Interruption FailureOfPower(harness::PowerLoss lost);

/// Whether the replica starts again.
bool Restarts(const Interruption& what);
/// Whether it may do more before it ends, so that what it leaves depends on time or on itself.
bool MayDoMore(const Interruption& what);

/// One fault, or several that belong together.
std::vector<harness::Fault> MakeInterruption(const Interruption& what, std::string name,
                                             const harness::CrashPoint& point);

/// The same faults as lines of a scenario. They need not be reached. `name` is unique in it.
std::string FaultLines(const Interruption& what, const std::string& name,
                       const harness::CrashPoint& point);

}  // namespace caip::explore
