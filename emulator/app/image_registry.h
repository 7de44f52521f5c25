#pragma once
// The image store of a state directory, and the registry that serves it.

#include <memory>
#include <mutex>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "fakes/registry/registry.h"
#include "http/router.h"

namespace caip::app {

/// Opens the image store at the first request, because most commands use no images. Any thread.
class ImageRegistry {
 public:
  /// `directory` is <state>/images.
  ImageRegistry(Path directory, uint64_t seed);
  ~ImageRegistry();

  /// The routes of the registry. The object outlives all requests to them.
  std::vector<http::Route> Routes();

 private:
  struct Opened;
  Result<registry::Registry*> Open();

  Path directory_;
  uint64_t seed_;
  std::mutex mutex_;
  std::unique_ptr<Opened> opened_;  // nullptr: not yet, or it failed
};

}  // namespace caip::app
