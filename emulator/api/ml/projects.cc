#include <algorithm>

#include "base/json.h"
#include "emulator/api/error_body.h"
#include "emulator/api/errors.h"
#include "emulator/api/ml/ml_routes.h"
#include "emulator/api/paging.h"
#include "ml/catalog/catalog.h"

namespace caip::api {
namespace {

Json LocationJson(const std::string& project, const ml::Region& region) {
  Json capability = {{"type", "TRAINING"}};
  if (!region.accelerators.empty()) capability["availableAccelerators"] = region.accelerators;
  return {{"name", "projects/" + project + "/locations/" + region.name},
          {"capabilities", Json::array({capability})}};
}

// GET v1/projects/{project}/locations
Result<Json> ListLocations(const http::Request& request, const std::string& project) {
  ASSIGN_OR_RETURN(const Page page, ReadPage(request));
  const auto& regions = ml::DefaultCatalog().regions();
  Json locations = Json::array();
  size_t next = 0;
  for (; next < regions.size() && locations.size() < page.size; ++next) {
    if (regions[next].name > page.after) locations.push_back(LocationJson(project, regions[next]));
  }
  Json answer = Json::object();
  if (!locations.empty()) answer["locations"] = locations;
  if (next < regions.size()) answer["nextPageToken"] = PageToken(regions[next - 1].name);
  return answer;
}

// GET v1/projects/{project}/locations/{location}
Result<Json> GetLocation(const std::string& project, const std::string& name) {
  const ml::Region* region = ml::DefaultCatalog().FindRegion(name);
  if (!region) return errors::LocationNotFound(name);
  return LocationJson(project, *region);
}

// GET v1/projects/{project}:getConfig
Json Config(const ServiceIdentity& identity) {
  return {{"serviceAccount", identity.service_account},
          {"serviceAccountProject", identity.project_number},
          {"config",
           {{"tpuServiceAccount",
             "service-" + identity.project_number + "@cloud-tpu.iam.gserviceaccount.com"}}}};
}

}  // namespace

std::string ManagedServiceAccount(const std::string& project_number) {
  return "service-" + project_number + "@cloud-ml.google.com.iam.gserviceaccount.com";
}

std::vector<http::Route> ProjectRoutes(const ServiceIdentity& identity) {
  return {
      {"GET", "/v1/projects/{project}:getConfig", "ml.projects.getConfig",
       [identity](const http::Request& request, const http::PathParameters&) {
         return Respond(request, Config(identity));
       }},
      {"GET", "/v1/projects/{project}/locations", "ml.projects.locations.list",
       [](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, ListLocations(request, at.At("project")));
       }},
      {"GET", "/v1/projects/{project}/locations/{location}", "ml.projects.locations.get",
       [](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, GetLocation(at.At("project"), at.At("location")));
       }},
  };
}

}  // namespace caip::api
