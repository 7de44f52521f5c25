#pragma once
// The APIs that an emulator serves on its port, and the state that they need besides the engine.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "emulator/api/control/control.h"
#include "emulator/api/ml/iam.h"
#include "emulator/api/optimizer/study_service.h"
#include "emulator/api/vertex/delete_operations.h"
#include "emulator/api/vertex/vertex_jobs.h"
#include "emulator/app/kept_state.h"
#include "emulator/app/settings/options.h"
#include "engine/engine.h"
#include "fakes/logging/api/logging_api.h"
#include "http/router.h"

namespace caip::app {

/// The parts that the APIs use. All of them outlive the APIs.
struct ApiWorld {
  const EmulatorOptions& options;
  const std::vector<std::string>& flags;  // flags of the command that started the emulator
  const KeptState& state;
  engine::Engine& engine;
  Clock& clock;  // emulated time
  Clock& wall;
  std::string token = {};  // for clients that the kernel does not know
  api::FindRunning find_running = {};
};

/// The routes of all APIs. The object outlives all requests to its routes and is destroyed before
/// the engine.
class Apis {
 public:
  explicit Apis(const ApiWorld& world);

  /// Adds all routes to `router`. Call it once.
  void Serve(http::Router* router, api::ControlActions actions);

  /// Ends all requests that follow a job. Their answers report that the emulator is ending.
  void EndFollowing() { follower_.End(); }

 private:
  std::vector<http::Route> MlRoutes();
  std::vector<http::Route> VertexRoutes();
  std::vector<http::Route> LoggingRoutes();
  api::KeptOfJobs KeptJobs();
  std::vector<http::Route> StorageRoutes();

  ApiWorld world_;
  api::JobFollower follower_;
  api::PolicyStore policies_;
  api::StudyService studies_;
  api::VertexJobs vertex_jobs_;
  api::DeleteOperations vertex_operations_;
  logging::StreamReaders stream_readers_;
};

}  // namespace caip::app
