#include "emulator/app/image_registry.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "fakes/registry/registry_api.h"

namespace caip::app {
namespace {

// A process that removes unused blobs locks the file for writing.
Result<Fd> LockShared(const Path& file) {
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return CannotOpen(file, errno);
  while (::flock(lock.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return CannotLock(file, errno);
  }
  return lock;
}

}  // namespace

struct ImageRegistry::Opened {
  std::unique_ptr<images::BlobStore> blobs;
  std::unique_ptr<images::ImageNames> names;
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
  ASSIGN_OR_RETURN(opened->blobs, images::BlobStore::Open(directory_));
  ASSIGN_OR_RETURN(opened->names, images::ImageNames::Open(directory_ / "names.db"));
  opened->registry = std::make_unique<registry::Registry>(
      *opened->blobs, *opened->names, [file = directory_ / "lock"] { return LockShared(file); },
      Random(seed_).Fork("registry"));
  opened_ = std::move(opened);
  return opened_->registry.get();
}

}  // namespace caip::app
