#pragma once
// Somebody who watches an emulator from inside and disturbs it: a scenario.

#include <memory>

#include "emulator/app/alarmed_clock.h"
#include "engine/engine.h"
#include "fakes/gcs/store/bucket_store.h"
#include "host/launcher_bundle.h"
#include "http/message.h"

namespace caip::app {

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
