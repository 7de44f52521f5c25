#include "emulator/app/image_registry.h"

#include "fakes/registry/registry_api.h"
#include "images/image_store.h"

namespace caip::app {

struct ImageRegistry::Opened {
  std::unique_ptr<images::ImageStore> store;
  std::unique_ptr<registry::Registry> registry;
};

ImageRegistry::ImageRegistry(Path directory, uint64_t seed)
    : directory_(std::move(directory)), seed_(seed) {}

ImageRegistry::~ImageRegistry() = default;

std::vector<http::Route> ImageRegistry::Routes() {
  return registry::RegistryRoutes([this] { return Open(); });
}

Result<registry::Registry*> ImageRegistry::Open() {
  const std::lock_guard lock(mutex_);
  if (opened_) return opened_->registry.get();
  auto opened = std::make_unique<Opened>();
  ASSIGN_OR_RETURN(opened->store, images::ImageStore::Open(directory_));
  images::ImageStore& store = *opened->store;
  opened->registry = std::make_unique<registry::Registry>(
      store.blobs(), store.names(), [&store] { return store.LockForAdding(); },
      Random(seed_).Fork("registry"));
  opened_ = std::move(opened);
  return opened_->registry.get();
}

}  // namespace caip::app
