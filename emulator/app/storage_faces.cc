#include "emulator/app/storage_faces.h"

#include "fakes/gcs/json/json_api.h"

namespace caip::app {
namespace {

void Append(std::vector<http::Route> more, std::vector<http::Route>* routes) {
  for (http::Route& route : more) routes->push_back(std::move(route));
}

}  // namespace

Result<std::unique_ptr<StorageFaces>> StorageFaces::Open(const StorageFacesOptions& options,
                                                         gcs::BucketStore& store,
                                                         const Clock& wall) {
  std::unique_ptr<StorageFaces> faces(new StorageFaces());
  const Random chance(options.seed);
  faces->service_ = std::make_shared<gcs::StorageService>(store, options.seed);
  ASSIGN_OR_RETURN(
      faces->keys_,
      gcs::ServiceKeys::Open(options.keys, wall, chance.Fork("storage keys"), options.signer));
  faces->tests_ = std::make_shared<gcs::RetryTests>(gcs::MethodsOf(faces->JsonRoutes()),
                                                    chance.Fork("retry tests"));
  gcs::XmlApiOptions xml;
  xml.service = faces->service_;
  xml.faults = gcs::FaultyCalls(faces->tests_, faces->pause_);
  xml.uploads = options.state / "xml-uploads";
  xml.seed = options.seed;
  faces->xml_ = std::make_unique<gcs::XmlApi>(std::move(xml), *faces->keys_, wall);
  return faces;
}

std::vector<http::Route> StorageFaces::JsonRoutes() const {
  std::vector<http::Route> routes = gcs::StorageRoutes(service_);
  Append(gcs::HmacKeyRoutes(keys_), &routes);
  return routes;
}

std::vector<http::Route> StorageFaces::Faulty(std::vector<http::Route> routes) const {
  return gcs::WithFaults(std::move(routes), tests_, pause_);
}

std::vector<http::Route> StorageFaces::OtherRoutes() const {
  std::vector<http::Route> routes = gcs::AccountKeyRoutes(keys_);
  Append(gcs::RetryTestRoutes(tests_), &routes);
  return routes;
}

}  // namespace caip::app
