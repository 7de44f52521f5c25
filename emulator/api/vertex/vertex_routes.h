#pragma once
// The training part of aiplatform.googleapis.com, as v1 and v1beta1 (docs/service/vertex.md,
// section 2). Other collections of the API answer 501 with their name.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "emulator/api/control/job_removal.h"
#include "emulator/api/vertex/delete_operations.h"
#include "emulator/api/vertex/vertex_jobs.h"
#include "http/router.h"

namespace caip::api {

/// What the routes use. All parts outlive them.
struct VertexWorld {
  VertexJobs& jobs;
  DeleteOperations& operations;
  Clock& clock;
  std::vector<std::string> regions;
};

/// projects.locations.customJobs, hyperparameterTuningJobs, trainingPipelines and operations, and
/// the collections that caip does not serve.
std::vector<http::Route> VertexRoutes(const VertexWorld& world);

/// POST /emulator/v1/projects/{project}/locations/{location}/customJobs:check {"job": CustomJob,
/// "arriving": [URI]} -> {}: caip's own, for --validate-only. Likewise the other collections.
std::vector<http::Route> VertexCheckRoutes(VertexJobs& jobs, std::vector<std::string> regions);

/// Both APIs have operations at the same paths. Answers for those of this API, and leaves all
/// others to the routes.
std::vector<http::Route> WithVertexOperations(std::vector<http::Route> ml_routes,
                                              DeleteOperations& operations);

inline constexpr std::string_view kBetaVersion = "v1beta1";

/// A place of routes: "/ROOT/projects/{project}/locations/{location}/". `root` is a version, or
/// "ui", where clients poll operations.
struct VertexRoot {
  std::string root;
  std::shared_ptr<const std::vector<std::string>> regions;  // one list for all routes
};

/// A route that rejects unknown locations and impossible projects. `id` is the part of the method's
/// id after "aiplatform.projects.locations.".
using VertexCall = std::function<Result<Json>(const http::Request&, const http::PathParameters&)>;
http::Route VertexRoute(const VertexRoot& root, std::string method, std::string_view path,
                        std::string_view id, VertexCall call);

/// The part of VertexRoutes for jobs of all kinds and pipelines.
std::vector<http::Route> VertexJobRoutes(const VertexWorld& world, const VertexRoot& version);

}  // namespace caip::api
