#include "emulator/api/vertex/vertex_routes.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "emulator/api/json_messages.h"
#include "google/project_id.h"
#include "ml/errors.h"
#include "vertex/errors.h"

namespace caip::api {
namespace {

constexpr std::string_view kVersions[] = {"v1", kBetaVersion};

// Collections of the API that caip does not serve.
constexpr std::string_view kUnserved[] = {
    "batchPredictionJobs",
    "cachedContents",
    "dataLabelingJobs",
    "datasets",
    "deploymentResourcePools",
    "endpoints",
    "featureGroups",
    "featureOnlineStores",
    "featurestores",
    "indexEndpoints",
    "indexes",
    "metadataStores",
    "migratableResources",
    "modelDeploymentMonitoringJobs",
    "models",
    "nasJobs",
    "notebookExecutionJobs",
    "notebookRuntimeTemplates",
    "notebookRuntimes",
    "persistentResources",
    "pipelineJobs",
    "publishers",
    "ragCorpora",
    "reasoningEngines",
    "schedules",
    "specialistPools",
    "studies",
    "tensorboards",
    "tuningJobs",
};

void AppendRoutes(std::vector<http::Route>& routes, std::vector<http::Route> more) {
  routes.insert(routes.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

Status CheckParent(const std::vector<std::string>& regions, const http::PathParameters& at) {
  const std::string& project = at.At("project");
  if (!google::IsProjectId(project)) return ml::errors::ProjectDenied(project);
  if (std::ranges::find(regions, at.At("location")) != regions.end()) return Ok{};
  return vertex::errors::LocationUnknown(at.At("location"), regions);
}

std::string OperationName(const http::PathParameters& at) {
  return "projects/" + at.At("project") + "/locations/" + at.At("location") + "/operations/" +
         at.At("operation");
}

Result<Json> FindOperation(const DeleteOperations& operations, const http::PathParameters& at) {
  auto found = operations.Find(at.At("location"), at.At("operation"));
  if (!found) return vertex::errors::OperationNotFound(OperationName(at));
  return *std::move(found);
}

}  // namespace

http::Route VertexRoute(const VertexRoot& root, std::string method, std::string_view path,
                        std::string_view id, VertexCall call) {
  return {std::move(method),
          "/" + root.root + "/projects/{project}/locations/{location}/" + std::string(path),
          "aiplatform.projects.locations." + std::string(id),
          [call = std::move(call), regions = root.regions](const http::Request& request,
                                                           const http::PathParameters& at) {
            const Status parent = CheckParent(*regions, at);
            return parent.ok() ? Respond(request, call(request, at))
                               : ErrorResponse(parent.error());
          }};
}

namespace {

std::vector<http::Route> OperationRoutesOfVertex(DeleteOperations& operations,
                                                 const VertexRoot& root) {
  const VertexCall get = [&operations](const auto&, const auto& at) {
    return FindOperation(operations, at);
  };
  const VertexCall cancel = [&operations](const auto&, const auto& at) -> Result<Json> {
    RETURN_IF_ERROR(FindOperation(operations, at));
    return Json::object();
  };
  const VertexCall forget = [&operations](const auto&, const auto& at) -> Result<Json> {
    if (operations.Forget(at.At("location"), at.At("operation"))) return Json::object();
    return vertex::errors::OperationNotFound(OperationName(at));
  };
  const VertexCall list = [&operations](const auto&, const auto& at) -> Result<Json> {
    const std::vector<Json> found = operations.List(at.At("location"));
    return found.empty() ? Json::object() : Json{{"operations", found}};
  };
  return {VertexRoute(root, "GET", "operations", "operations.list", list),
          VertexRoute(root, "GET", "operations/{operation}", "operations.get", get),
          VertexRoute(root, "DELETE", "operations/{operation}", "operations.delete", forget),
          VertexRoute(root, "POST", "operations/{operation}:wait", "operations.wait", get),
          VertexRoute(root, "POST", "operations/{operation}:cancel", "operations.cancel", cancel)};
}

// The collection of a path: "models" of "models:upload".
std::string CollectionOf(const std::string& segment) {
  return segment.substr(0, segment.find(':'));
}

// The studies of v1 are those of the optimizer, which knows all their paths
// (emulator/api/optimizer).
bool IsUnserved(std::string_view version, std::string_view collection) {
  if (collection == "studies" && version != kBetaVersion) return false;
  return std::ranges::find(kUnserved, collection) != std::end(kUnserved);
}

http::RouteHandler RefusalOfCollections(const std::string& version) {
  return [version](const http::Request& request, const http::PathParameters& at) {
    const std::string collection = CollectionOf(at.At("collection"));
    return IsUnserved(version, collection) ? ErrorResponse(vertex::errors::NotServed(collection))
                                           : NoRouteResponse(404, request, "");
  };
}

// Matched after all other routes below a location, which are more specific.
std::vector<http::Route> UnservedRoutes(const std::string& version) {
  const std::string below = "/" + version + "/projects/{project}/locations/{location}/{collection}";
  std::vector<http::Route> routes;
  for (const char* method : {"GET", "POST", "PATCH", "DELETE"}) {
    for (const std::string& pattern : {below, below + "/{rest...}"}) {
      routes.push_back(
          {method, pattern, "aiplatform.projects.locations.others", RefusalOfCollections(version)});
      routes.back().emulated = false;
    }
  }
  return routes;
}

}  // namespace

std::vector<http::Route> VertexRoutes(const VertexWorld& world) {
  const auto regions = std::make_shared<const std::vector<std::string>>(world.regions);
  const auto root = [&](std::string_view name) { return VertexRoot{std::string(name), regions}; };
  std::vector<http::Route> routes = OperationRoutesOfVertex(world.operations, root("ui"));
  for (const std::string_view version : kVersions) {
    AppendRoutes(routes, VertexJobRoutes(world, root(version)));
    AppendRoutes(routes, UnservedRoutes(std::string(version)));
  }
  AppendRoutes(routes, OperationRoutesOfVertex(world.operations, root(kBetaVersion)));
  // The get and the cancel of v1 are those of WithVertexOperations.
  for (http::Route& route : OperationRoutesOfVertex(world.operations, root("v1"))) {
    const bool is_shared = route.id.ends_with(".get") || route.id.ends_with(".cancel");
    if (!is_shared) routes.push_back(std::move(route));
  }
  return routes;
}

std::vector<http::Route> WithVertexOperations(std::vector<http::Route> ml_routes,
                                              DeleteOperations& operations) {
  for (http::Route& route : ml_routes) {
    const bool gets = route.id == "ml.projects.locations.operations.get";
    if (!gets && route.id != "ml.projects.locations.operations.cancel") continue;
    route.handler = [&operations, gets, inner = std::move(route.handler)](
                        const http::Request& request, const http::PathParameters& at) {
      const auto found = operations.Find(at.At("location"), at.At("operation"));
      if (!found) return inner(request, at);
      return Respond(request, gets ? *found : Json::object());
    };
  }
  return ml_routes;
}

}  // namespace caip::api
