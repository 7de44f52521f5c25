#pragma once
// The images of this host: in files that the settings name, in the image store, in podman and
// docker, and in other registries of this host.

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "host/images/engine_stores.h"
#include "host/images/image_packager.h"
#include "images/digest.h"

namespace caip::images {
struct ImageConfig;
class ImageReference;
struct ImageSource;
class ImageStore;
struct UnpackedImage;
}  // namespace caip::images

namespace caip::host {

struct LocalImagesOptions {
  Path state;           // of the emulator; images of engines are saved there for a moment
  Path store;           // directory of the image store; made when an image is looked for
  bool can_run = true;  // replicas have machines with roots of their own
  Variables own_environment = {};
  std::function<void()> after_finding = {};  // for tests
};

/// How often an image is looked for that is removed before it is used.
inline constexpr int kFindTriesMax = 3;

/// An image that the store has by now.
struct LocatedImage {
  images::Digest digest;  // of its manifest or index
  images::ImageStore* store = nullptr;
};

/// The variables of an image's programs, with a PATH and without HOME.
engine::Environment EnvironmentOf(const images::ImageConfig& config);

class LocalImages final : public ImageSource {
 public:
  explicit LocalImages(LocalImagesOptions options);
  ~LocalImages() override;

  /// `source` is the location of the image in a file or directory, as ImageLocation returns it:
  /// "/home/me/image.tar", "/home/me/layout:v2".
  Result<engine::PreparedImage> Provide(const std::string& uri, const std::string& source,
                                        const Note& note, const std::stop_token& stop) override;
  /// Finds the image in its place, and imports it, without unpacking it.
  Result<LocatedImage> Locate(const std::string& uri, const std::string& source,
                              const std::stop_token& stop);
  /// Why the image cannot be used, without unpacking it.
  Status LookUp(const std::string& uri, const std::string& source);

 private:
  Result<images::ImageStore*> Store();
  Result<images::Digest> Find(const std::string& uri, const std::string& source,
                              const std::stop_token& stop);
  Result<images::UnpackedImage> FindAndUnpack(const std::string& uri, const std::string& source,
                                              const std::stop_token& stop);
  Result<images::Digest> Import(const images::ImageSource& source,
                                const images::ImageReference& as);
  Result<images::Digest> ImportMapped(const std::string& location);
  Result<images::Digest> FindMapped(const std::string& uri, const std::string& source);
  Result<images::Digest> FindByName(const std::string& uri, const std::stop_token& stop);
  Result<images::Digest> ImportFromEngine(const std::string& uri,
                                          const images::ImageReference& name,
                                          const std::stop_token& stop);

  const LocalImagesOptions options_;
  const EngineStores engines_;
  std::mutex mutex_;
  std::unique_ptr<images::ImageStore> store_;  // guarded by mutex_ until it is set
};

}  // namespace caip::host
