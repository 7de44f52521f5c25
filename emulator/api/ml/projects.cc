#include <algorithm>

#include "base/json.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"
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
  return AnswerPage(page, "locations", page.size + 1,
                    [&](const std::string& after, size_t count) -> Result<std::vector<PageItem>> {
                      std::vector<PageItem> items;
                      for (const ml::Region& region : ml::DefaultCatalog().regions()) {
                        if (region.name <= after || items.size() == count) continue;
                        items.push_back({region.name, LocationJson(project, region)});
                      }
                      return items;
                    });
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
