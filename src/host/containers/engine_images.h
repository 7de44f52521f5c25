#pragma once
// The images of this host, loaded into podman or docker.

#include <memory>
#include <string>

#include "host/containers/container_engine.h"
#include "host/images/image_packager.h"
#include "host/images/local_images.h"
#include "images/image_manifest.h"

namespace caip::host {

/// The image of a replica in an engine: what PreparedImage::hold points to.
struct EngineImageName {
  std::string name;  // "localhost/caip:…"
};

/// Finds images where LocalImages finds them, so that a URI means the same image for every engine.
class EngineImages final : public ImageSource {
 public:
  /// `state`: the directory of the emulator.
  EngineImages(ContainerEngine engine, std::shared_ptr<LocalImages> images, Path state)
      : engine_(std::move(engine)), images_(std::move(images)), state_(std::move(state)) {}

  Result<engine::PreparedImage> Provide(const std::string& uri, const std::string& source,
                                        const Note& note, const std::stop_token& stop) override;

 private:
  struct Loaded {
    images::Digest digest;
    images::ImageConfig config;
    std::string name;  // in the engine
  };

  Result<Loaded> FindAndLoad(const std::string& uri, const std::string& source,
                             const std::stop_token& stop);
  Status Load(const LocatedImage& image, const std::string& name, const std::stop_token& stop);

  const ContainerEngine engine_;
  const std::shared_ptr<LocalImages> images_;
  const Path state_;
};

}  // namespace caip::host
