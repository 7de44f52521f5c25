#include "emulator/api/ml/ml_routes.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"
#include "emulator/api/ml/iam.h"
#include "emulator/api/optimizer/study_service.h"
#include "emulator/api/paging.h"
#include "google/project_id.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

http::RouteHandler NoOperation() {
  return [](const http::Request&, const http::PathParameters&) {
    return ErrorResponse(errors::OperationNotFound());
  };
}

// The answer of a list of resources that no project has.
Result<Json> ListNothing(const http::Request& request) {
  RETURN_IF_ERROR(ReadPage(request));
  return Json::object();
}

http::Route NotEmulated(const ApiMethod& method, std::string pattern) {
  return {method.http_method, std::move(pattern), method.id,
          [id = method.id](const http::Request&, const http::PathParameters&) {
            return ErrorResponse(errors::NotEmulated(id));
          },
          false};
}

void Append(std::vector<http::Route>& routes, std::vector<http::Route> more) {
  routes.insert(routes.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

// The service treats an impossible project id as a project that the caller may not access.
std::vector<http::Route> WithProjectCheck(std::vector<http::Route> routes) {
  for (http::Route& route : routes) {
    if (route.pattern.find("{project}") == std::string::npos) continue;
    route.handler = [inner = std::move(route.handler)](const http::Request& request,
                                                       const http::PathParameters& at) {
      const std::string& project = at.At("project");
      if (google::IsProjectId(project)) return inner(request, at);
      return ErrorResponse(ml::errors::ProjectDenied(project));
    };
  }
  return routes;
}

}  // namespace

std::vector<http::Route> OperationRoutes() {
  const std::string one = "/v1/projects/{project}/operations/{operation}";
  return {
      {"GET", "/v1/projects/{project}/operations", "ml.projects.operations.list",
       [](const http::Request& request, const http::PathParameters&) {
         return Respond(request, ListNothing(request));
       }},
      {"GET", one, "ml.projects.operations.get", NoOperation()},
      {"POST", one + ":cancel", "ml.projects.operations.cancel", NoOperation()},
  };
}

std::vector<http::Route> ModelRoutes() {
  return {{"GET", "/v1/projects/{project}/models", "ml.projects.models.list",
           [](const http::Request& request, const http::PathParameters&) {
             return Respond(request, ListNothing(request));
           }}};
}

std::vector<http::Route> NotEmulatedRoutes(const std::vector<http::Route>& served) {
  std::vector<http::Route> routes;
  for (const ApiMethod& method : ApiDescription::Ml().methods()) {
    if (std::any_of(served.begin(), served.end(),
                    [&](const http::Route& route) { return route.id == method.id; })) {
      continue;
    }
    routes.push_back(NotEmulated(method, RoutePattern(method)));
    // Predictions are methods of models and versions, whose names are longer paths.
    const size_t verb = method.path.rfind(':');
    if (method.id == "ml.projects.predict" || method.id == "ml.projects.explain") {
      const std::string model = "/v1/projects/{project}/models/{model}";
      routes.push_back(NotEmulated(method, model + method.path.substr(verb)));
      routes.push_back(
          NotEmulated(method, model + "/versions/{version}" + method.path.substr(verb)));
    }
  }
  return routes;
}

std::vector<http::Route> MlRoutes(engine::Engine& engine, PolicyStore& policies,
                                  StudyService& studies, const ServiceIdentity& identity) {
  std::vector<http::Route> routes = JobRoutes(engine);
  Append(routes, IamRoutes(engine, policies));
  Append(routes, ProjectRoutes(identity));
  Append(routes, StudyRoutes(studies));
  Append(routes, OperationRoutes());
  Append(routes, ModelRoutes());
  Append(routes, NotEmulatedRoutes(routes));
  return WithProjectCheck(std::move(routes));
}

}  // namespace caip::api
