#pragma once
// All APIs of the one port, and the state that they need besides the engine.

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

/// The parts that the APIs use. All of them outlive the APIs.
struct ApiWorld {
  const EmulatorOptions& options;
  const std::vector<std::string>& flags;  // of the command that started the emulator
  const KeptState& state;
  engine::Engine& engine;
  Clock& clock;  // emulated time
  Clock& wall;
};

/// Outlives all requests to its routes; is destroyed before the engine.
class Apis {
 public:
  explicit Apis(const ApiWorld& world);

  /// Fills `router`, once.
  void Serve(http::Router* router, api::ControlActions actions);

  /// Answers all requests that follow a job at once; the answers say that the emulator ends.
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
