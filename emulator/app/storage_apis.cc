#include "emulator/app/storage_apis.h"

#include "fakes/gcs/json/json_api.h"

namespace caip::app {
namespace {

void Append(std::vector<http::Route> more, std::vector<http::Route>* routes) {
  for (http::Route& route : more) routes->push_back(std::move(route));
}

}  // namespace

Result<std::unique_ptr<StorageApis>> StorageApis::Open(const StorageApisOptions& options,
                                                       gcs::BucketStore& store, const Clock& wall) {
  std::unique_ptr<StorageApis> apis(new StorageApis());
  const Random chance(options.seed);
  apis->service_ = std::make_shared<gcs::StorageService>(store, options.seed,
                                                         options.project_number, options.warn);
  ASSIGN_OR_RETURN(
      apis->keys_,
      gcs::ServiceKeys::Open(options.keys, wall, chance.Fork("storage keys"), options.signer));
  apis->tests_ = std::make_shared<gcs::RetryTests>(gcs::MethodsOf(apis->JsonRoutes()),
                                                   chance.Fork("retry tests"));
  gcs::XmlApiOptions xml;
  xml.service = apis->service_;
  xml.faults = gcs::FaultyCalls(apis->tests_, apis->pause_);
  xml.uploads = options.state / "xml-uploads";
  xml.seed = options.seed;
  apis->xml_ = std::make_unique<gcs::XmlApi>(std::move(xml), *apis->keys_, wall);
  return apis;
}

std::vector<http::Route> StorageApis::JsonRoutes() const {
  std::vector<http::Route> routes = gcs::StorageRoutes(service_);
  Append(gcs::HmacKeyRoutes(keys_), &routes);
  return routes;
}

std::vector<http::Route> StorageApis::Faulty(std::vector<http::Route> routes) const {
  return gcs::WithFaults(std::move(routes), tests_, pause_);
}

std::vector<http::Route> StorageApis::OtherRoutes() const {
  std::vector<http::Route> routes = gcs::AccountKeyRoutes(keys_);
  Append(gcs::RetryTestRoutes(tests_), &routes);
  return routes;
}

}  // namespace caip::app
