#include "emulator/app/apis.h"

#include "emulator/api/control/control.h"
#include "emulator/api/control/job_removal.h"
#include "emulator/api/control/stream_view.h"
#include "emulator/api/discovery/discovery.h"
#include "emulator/api/ml/ml_routes.h"
#include "emulator/app/settings/part_options.h"
#include "emulator/app/version.h"
#include "emulator/front/standard_parameters.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/logging/api/logging_api.h"
#include "host/machine/boot_disks.h"
#include "host/process/child_process.h"
#include "host/python/interpreter_scan.h"

namespace caip::app {

Apis::Apis(const ApiWorld& world)
    : world_(world),
      follower_(world.engine, *world.state.book),
      policies_(world.options.state / "policies"),
      studies_(*world.state.studies, world.clock, world.options.seed, world.options.say) {}

std::vector<http::Route> Apis::MlRoutes() {
  return api::ForStreamReaders(
      api::MlRoutes(world_.engine, policies_, studies_,
                    {world_.options.project_number, ServiceAccountOf(world_.options)}),
      world_.engine, *world_.state.book, stream_readers_);
}

std::vector<http::Route> Apis::LoggingRoutes() {
  return logging::LoggingRoutes(logging::MakeLoggingApi(world_.options.state / "logs.db",
                                                        *world_.state.book, world_.clock,
                                                        world_.wall, stream_readers_));
}

// The parts of a batch accept the same parameters as whole requests.
std::vector<http::Route> Apis::StorageRoutes() {
  auto routes = front::WithStandardParameters(world_.state.apis->JsonRoutes());
  routes.push_back(gcs::BatchRoute(routes));
  return routes;
}

void Apis::Serve(http::Router* router, api::ControlActions actions) {
  const EmulatorOptions& options = world_.options;
  const StorageApis& storage = *world_.state.apis;
  router->Add(front::WithStandardParameters(MlRoutes()));
  router->Add(front::WithStandardParameters(LoggingRoutes()));
  router->Add(storage.Faulty(StorageRoutes()));
  router->Add(storage.OtherRoutes());
  router->Add(world_.state.registry->Routes());
  router->Add(
      api::ControlRoutes({kVersion, options.state.string(), options.seed, world_.flags,
                          host::ActiveEnvironment(host::OwnEnvironment()).string(), world_.token},
                         world_.engine, follower_, std::move(actions)));
  router->Add(api::JobRemovalRoutes(
      {world_.engine, *world_.state.book, policies_,
       [state = options.state](const auto& job) { RemoveTree(host::KeptDisksOf(state, job)); }}));
  router->Add(api::StudyRoutes(world_.engine, world_.clock));
  router->Add(api::ReplicaRoutes(world_.engine, world_.find_running));
  router->Add(api::DiscoveryRoutes(router->routes()));
  router->Add(api::RouteListRoute(router->routes()));
}

}  // namespace caip::app
