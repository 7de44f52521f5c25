#pragma once
// How a scenario watches an emulator from inside and injects faults, and the clock that wakes it.

#include <memory>

#include "base/clock.h"
#include "engine/engine.h"
#include "fakes/gcs/store/bucket_store.h"
#include "host/launcher_bundle.h"
#include "http/message.h"

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

/// Each Around() is called once, while the emulator is made, and stands from then on between its
/// part and whoever uses it. Outlives the emulator. As an alarm it is asked by the service's clock.
class Interference : public Alarm {
 public:
  /// What clients and replicas reach; the service's own looks at packages and buckets pass it by.
  virtual std::unique_ptr<gcs::BucketStore> Around(gcs::BucketStore& store) = 0;
  /// What replicas print, and nothing else of the log.
  virtual std::unique_ptr<engine::LogSink> Around(engine::LogSink& sink) = 0;
  /// What the engine writes to the log.
  virtual std::unique_ptr<engine::LogSink> AroundService(engine::LogSink& sink) = 0;
  /// May wrap the launcher, whose launches are as complete as they will be, and the packager, and
  /// use the launcher's abilities. An Error: the launcher lacks an ability that is needed.
  virtual Status Around(host::LauncherBundle& replicas) = 0;
  /// All but metadata and tokens.
  virtual http::Handler Around(http::Handler apis) = 0;
  /// The engine runs; nothing was submitted.
  virtual void Begin(engine::Engine& engine, Clock& clock) = 0;
  /// Before the engine goes.
  virtual void End() = 0;
};

}  // namespace caip::app
