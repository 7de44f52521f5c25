#include "emulator/api/ml/ml_routes.h"

#include <iterator>

#include "emulator/api/error_body.h"
#include "emulator/api/ml/iam.h"
#include "emulator/api/ml/jobs.h"
#include "emulator/api/ml/other_methods.h"
#include "emulator/api/optimizer/studies.h"
#include "google/project_id.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

void Append(std::vector<http::Route>& routes, std::vector<http::Route> more) {
  routes.insert(routes.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

// A project that nobody can have is, to the service, one that the caller may not see.
std::vector<http::Route> OfProjects(std::vector<http::Route> routes) {
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

std::vector<http::Route> MlRoutes(engine::Engine& engine, PolicyStore& policies, StudyDesk& studies,
                                  const ServiceIdentity& identity) {
  std::vector<http::Route> routes = JobRoutes(engine);
  Append(routes, IamRoutes(engine, policies));
  Append(routes, ProjectRoutes(identity));
  Append(routes, StudyRoutes(studies));
  Append(routes, OperationRoutes());
  Append(routes, NotEmulatedRoutes(routes));
  return OfProjects(std::move(routes));
}

}  // namespace caip::api
