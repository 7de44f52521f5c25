#include "emulator/api/ml_routes.h"

#include <iterator>

#include "emulator/api/iam.h"
#include "emulator/api/jobs.h"
#include "emulator/api/other_methods.h"
#include "emulator/api/studies.h"

namespace caip::api {
namespace {

void Append(std::vector<http::Route>& routes, std::vector<http::Route> more) {
  routes.insert(routes.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
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
  return routes;
}

}  // namespace caip::api
