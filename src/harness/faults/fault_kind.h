#pragma once
// What can happen. One kind, one file below faults/, one line in fault_kinds.cc.

#include <functional>
#include <string>
#include <vector>

#include "harness/faults/fault.h"
#include "harness/faults/world.h"

namespace caip::harness {

/// What a fault sees of the run while it strikes.
class Scene {
 public:
  virtual ~Scene() = default;
  virtual World& world() = 0;
  /// Blocks until the boot of the replica that lives now has ended, or the run has.
  virtual void WaitForEnd(const std::string& replica) = 0;
  /// Blocks until the fault's `until` has come, or the run has ended.
  virtual void WaitForUntil(const Fault& fault) = 0;
  /// Runs `then` once `until` has come (or `lasts` is over), without blocking.
  virtual void WhenOver(const Fault& fault, std::function<void()> then) = 0;
  /// Pauses the caller; ends with the run.
  virtual void Pause(Duration time) = 0;
};

struct FaultKind {
  std::string name;                     // its key in a scenario
  std::string summary;                  // one line for documentation and the schema
  std::vector<std::string> parameters;  // keys it takes: replica until for status bytes ...
  std::vector<std::string> required;    // those it cannot do without
  /// What its moments are: "storage" operations, "prepare", "api" calls, a "line"; "replica": any.
  /// Faults of the middle three are told to whoever asks, and do nothing by themselves.
  std::string meets;
  std::string needs;  // an ability of the host: "libfaketime"; "" none
  Verdict (*strike)(const Fault& fault, Scene& scene);
};

/// All that can happen, by name.
const std::vector<FaultKind>& FaultKinds();
const FaultKind* FindFaultKind(std::string_view name);

// One function a file.
FaultKind KillKind();
FaultKind CrashKind();
FaultKind MaintenanceKind();
FaultKind HangKind();
FaultKind HoldKind();
FaultKind CancelKind();
FaultKind StorageErrorKind();
FaultKind ClockStepKind();
FaultKind PreparingFailureKind();
FaultKind ApiErrorKind();
FaultKind DropLogKind();
FaultKind DuplicateLogKind();

/// It strikes at once, in the thread that met it, and only says what that is to do.
bool IsInline(const FaultKind& kind);

}  // namespace caip::harness
