#pragma once
// How a scenario watches an emulator from inside and injects faults, and the clock that wakes it.

#include <memory>

#include "base/clock.h"
#include "engine/engine.h"
#include "fakes/gcs/store/bucket_store.h"
#include "host/launcher_bundle.h"
#include "http/message.h"

namespace caip::app {

/// A listener that an AlarmedClock wakes at times the engine has no timer for.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual Instant Next() const = 0;  // the next time; kNever: none
  /// Called on the waiting thread when the time has come. Afterwards Next() is a later time. Must
  /// not block.
  virtual void Ring(Instant now) = 0;
};

/// A LeapClock that also stops waiting at the alarm's times.
class AlarmedClock final : public Clock {
 public:
  /// Call it before any thread waits. The alarm outlives all waits.
  void SetAlarm(Alarm* alarm) { alarm_ = alarm; }

  Instant Now() const override { return clock_.Now(); }
  void WaitUntil(Instant deadline) override;
  void Interrupt() override { clock_.Interrupt(); }
  void Hold() override { clock_.Hold(); }
  void Release() override { clock_.Release(); }
  void AdvanceTo(Instant earliest) override { clock_.AdvanceTo(earliest); }

 private:
  LeapClock clock_;
  Alarm* alarm_ = nullptr;
};

/// Watches an emulator from inside and disturbs it. Each Wrap function is called once, while the
/// emulator is constructed. Its result stands between the part and the users of the part. The hooks
/// are also the alarm of the service's clock. They outlive the emulator.
class EmulatorHooks : public Alarm {
 public:
  /// The store that clients and replicas use. The service itself reads packages and buckets
  /// directly.
  virtual std::unique_ptr<gcs::BucketStore> WrapStore(gcs::BucketStore& store) = 0;
  /// The sink of the replicas' output, and of no other log entries.
  virtual std::unique_ptr<engine::LogSink> WrapOutput(engine::LogSink& sink) = 0;
  /// The sink of the engine's log entries.
  virtual std::unique_ptr<engine::LogSink> WrapServiceLog(engine::LogSink& sink) = 0;
  /// May wrap the launcher and the packager, and use the launcher's abilities. The wrapper sees
  /// complete launches. Error: the launcher lacks a required ability.
  virtual Status WrapLaunchers(host::LauncherBundle& replicas) = 0;
  /// The handler of all requests except those for metadata and tokens.
  virtual http::Handler WrapHandler(http::Handler apis) = 0;
  /// Called when the engine runs and no job was submitted yet.
  virtual void Begin(engine::Engine& engine, Clock& clock) = 0;
  /// Called before the engine is destroyed.
  virtual void End() = 0;
};

}  // namespace caip::app
