#include "emulator/api/discovery/route_list.h"

#include <memory>

#include "base/json.h"
#include "emulator/api/error_body.h"

namespace caip::api {
namespace {

Json RouteJson(const http::Route& route) {
  return {{"id", route.id},
          {"method", route.method},
          {"pattern", route.pattern},
          {"emulated", route.emulated}};
}

}  // namespace

http::Route RouteListRoute(const std::vector<http::Route>& routes) {
  http::Route own{"GET", "/emulator/v1/routes", "emulator.routes", nullptr};
  const auto list = std::make_shared<Json>(Json::array());
  for (const http::Route& route : routes) list->push_back(RouteJson(route));
  list->push_back(RouteJson(own));
  own.handler = [list](const http::Request& request, const http::PathParameters&) {
    return Respond(request, Json{{"routes", *list}});
  };
  return own;
}

}  // namespace caip::api
