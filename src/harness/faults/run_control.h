#pragma once
// What faults ask of the emulator that runs the job, and what they answer to the replica.

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/events.h"

namespace caip::harness {

/// Any thread but the engine's may call. The calls only ask; they do not wait for the result.
class RunControl {
 public:
  virtual ~RunControl() = default;
  /// Takes the replica's machine away. An error when nothing of it lives.
  virtual Status LoseVm(const std::string& replica, engine::VmLoss kind) = 0;
  /// Stops every process of the replica, or lets them go on.
  virtual void Freeze(const std::string& replica) = 0;
  virtual void Thaw(const std::string& replica) = 0;
  /// The user's cancel.
  virtual Status CancelJob() = 0;
  /// Steps the clock that the replica's processes see.
  virtual Status StepClock(const std::string& replica, Duration by) = 0;
};

/// The answer to the operation that met a fault. All but kGoOn and kGone are for operations of
/// storage, calls of the job API, installations and log lines only.
struct FaultResponse {
  enum class Kind {
    kGoOn,
    kGone,    // the replica that asked is dead: answer nothing
    kRefuse,  // `status` is the answer; nothing happens
    kBreak,   // the answer's body ends after `bytes`
    kStale,   // a listing as it was before the last change
    kDrop,    // a log line that never arrives
    kTwice,   // a log line that arrives twice
  } kind = Kind::kGoOn;
  int status = 503;
  uint64_t bytes = 0;
  std::string message = {};  // of a refusal
};

}  // namespace caip::harness
