#pragma once
// What a scenario needs of the emulator that it torments.

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/events.h"

namespace caip::harness {

/// Any thread but the engine's may call; the calls only ask, and do not wait for what comes of it.
class World {
 public:
  virtual ~World() = default;
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

/// What whoever met a fault is to do. Those of storage and the job API only.
struct Verdict {
  enum class Kind {
    kGoOn,
    kGone,    // the one who asked is dead: answer nothing
    kRefuse,  // `status` in the place of an answer; nothing happens
    kBreak,   // the answer's body ends after `bytes`
    kStale,   // a listing as it was before the last change
    kDrop,    // a log line that never arrives
    kTwice,   // one that arrives twice
  } kind = Kind::kGoOn;
  int status = 503;
  uint64_t bytes = 0;
  std::string words = {};  // of a refusal
};

}  // namespace caip::harness
