#pragma once
// The service's clock, with somebody who wants to be woken at moments that the engine knows not of.

#include "base/clock.h"

namespace caip::app {

/// For whom a moment matters that nobody waits for.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual Instant Next() const = 0;  // kNever: none
  /// On the waiting thread, once the moment is there; Next() is a later one then. Must not block.
  virtual void Ring(Instant now) = 0;
};

/// A LeapClock whose waiting stops at the alarm's moments, too.
class AlarmedClock final : public Clock {
 public:
  /// Before anybody waits; outlives the waiting.
  void SetAlarm(Alarm* alarm) { alarm_ = alarm; }

  Instant Now() const override { return clock_.Now(); }
  void WaitUntil(Instant deadline) override;
  void Interrupt() override { clock_.Interrupt(); }
  void Hold() override { clock_.Hold(); }
  void Release() override { clock_.Release(); }

 private:
  LeapClock clock_;
  Alarm* alarm_ = nullptr;
};

}  // namespace caip::app
