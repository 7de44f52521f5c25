#include "emulator/app/apis.h"

#include "emulator/api/control/control.h"
#include "emulator/api/control/job_removal.h"
#include "emulator/api/control/stream_view.h"
#include "emulator/api/discovery/discovery.h"
#include "emulator/api/ml/ml_routes.h"
#include "emulator/api/vertex/vertex_routes.h"
#include "emulator/app/settings/part_options.h"
#include "emulator/app/version.h"
#include "emulator/front/standard_parameters.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/logging/api/logging_api.h"
#include "host/machine/boot_disks.h"
#include "host/process/child_process.h"
#include "host/python/interpreter_scan.h"

namespace caip::app {
namespace {

api::VertexJobs::Options VertexSettings(const EmulatorOptions& options) {
  const bool has_queue =
      options.jobs_max > 0 || !std::holds_alternative<run::NoDelay>(options.queue_delay);
  return {options.project_number, ProjectOf(host::OwnEnvironment()), has_queue, options.seed};
}

}  // namespace

Apis::Apis(const ApiWorld& world)
    : world_(world),
      follower_(world.engine, *world.state.book),
      policies_(world.options.state / "policies"),
      studies_(*world.state.studies, world.clock, world.options.seed, world.options.say),
      vertex_jobs_(KeptJobs(), VertexSettings(world.options)),
      vertex_operations_(world.options.seed) {}

api::KeptOfJobs Apis::KeptJobs() {
  return {world_.engine, *world_.state.book, policies_,
          [state = world_.options.state](const auto& job) {
            RemoveTree(host::KeptDisksOf(state, job));
          }};
}

std::vector<http::Route> Apis::MlRoutes() {
  auto routes = api::MlRoutes(world_.engine, policies_, studies_,
                              {world_.options.project_number, ServiceAccountOf(world_.options)});
  return api::ForStreamReaders(api::WithVertexOperations(std::move(routes), vertex_operations_),
                               world_.engine, *world_.state.book, stream_readers_);
}

std::vector<http::Route> Apis::VertexRoutes() {
  return api::VertexRoutes({vertex_jobs_, vertex_operations_, world_.clock,
                            VertexTrainingSettings(world_.options).validation.RegionNames()});
}

std::vector<http::Route> Apis::LoggingRoutes() {
  logging::ParentAlias alias = {"projects/" + world_.options.project_number,
                                "projects/" + ProjectOf(host::OwnEnvironment())};
  return logging::LoggingRoutes(
      logging::MakeLoggingApi(world_.options.state / "logs.db", *world_.state.book, world_.clock,
                              world_.wall, stream_readers_, std::move(alias)));
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
  router->Add(front::WithStandardParameters(VertexRoutes()));
  router->Add(front::WithStandardParameters(LoggingRoutes()));
  router->Add(storage.Faulty(StorageRoutes()));
  router->Add(storage.OtherRoutes());
  router->Add(world_.state.registry->Routes());
  router->Add(
      api::ControlRoutes({kVersion, options.state.string(), options.seed, world_.flags,
                          host::ActiveEnvironment(host::OwnEnvironment()).string(), world_.token},
                         world_.engine, follower_, std::move(actions)));
  router->Add(api::JobRemovalRoutes(KeptJobs()));
  router->Add(api::VertexCheckRoutes(
      vertex_jobs_, VertexTrainingSettings(world_.options).validation.RegionNames()));
  router->Add(api::StudyRoutes(world_.engine, world_.clock));
  router->Add(api::ReplicaRoutes(world_.engine, world_.find_running));
  router->Add(api::DiscoveryRoutes(*router));
  router->Add(api::RouteListRoute(*router));
}

}  // namespace caip::app
