#pragma once
// All APIs behind the one port, and what they need beside the engine.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "emulator/api/control/control.h"
#include "emulator/api/ml/iam.h"
#include "emulator/api/optimizer/study_service.h"
#include "emulator/app/kept_state.h"
#include "emulator/app/settings/options.h"
#include "engine/engine.h"
#include "fakes/logging/api/logging_api.h"
#include "http/router.h"

namespace caip::app {

/// What the APIs are about. All of it outlives them.
struct ApiWorld {
  const EmulatorOptions& options;
  const std::vector<std::string>& flags;  // the emulator was started with these
  const KeptState& state;
  engine::Engine& engine;
  Clock& clock;  // the service's, which leaps
  Clock& wall;
};

/// Outlives the use of the routes it makes; goes before the engine.
class Apis {
 public:
  explicit Apis(const ApiWorld& world);

  /// Fills `router`, once.
  void Serve(http::Router* router, api::ControlActions actions);

  /// The emulator ends: who follows a job is told so, and not to wait.
  void EndFollowing() { follower_.End(); }

 private:
  std::vector<http::Route> MlRoutes();
  std::vector<http::Route> LoggingRoutes();
  std::vector<http::Route> StorageRoutes();

  ApiWorld world_;
  api::JobFollower follower_;
  api::PolicyStore policies_;
  api::StudyService studies_;
  logging::StreamReaders stream_readers_;
};

}  // namespace caip::app
