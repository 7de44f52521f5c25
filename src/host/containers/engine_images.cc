#include "host/containers/engine_images.h"

#include "host/images/image_errors.h"
#include "host/store/scratch.h"
#include "images/image_store.h"

namespace caip::host {
namespace {

constexpr char kRepositoryInEngine[] = "localhost/caip:";
constexpr size_t kTagDigitsInEngine = 32;

}  // namespace

// Between the steps, an import may replace the image, and remove the one that was found.
Result<EngineImages::Loaded> EngineImages::FindAndLoad(const std::string& uri,
                                                       const std::string& source,
                                                       const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(const LocatedImage found, images_->Locate(uri, source, stop));
    const std::string name = kRepositoryInEngine + found.digest.hex().substr(0, kTagDigitsInEngine);
    auto config = found.store->ReadConfig(found.digest);
    const Status loaded = config.ok() ? Load(found, name, stop) : Status(config.error());
    if (loaded.ok()) return Loaded{found.digest, *std::move(config), name};
    const bool is_gone = loaded.error().code == Code::kNotFound && tries < kFindTriesMax;
    if (!is_gone) return errors::ImageUnusable(uri, loaded.error());
  }
}

Result<engine::PreparedImage> EngineImages::Provide(const std::string& uri,
                                                    const std::string& source, const Note& note,
                                                    const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const Loaded loaded, FindAndLoad(uri, source, stop));
  note(engine::Severity::kInfo, errors::RunsImage(uri, loaded.digest.text()));
  engine::PreparedImage image;
  image.entrypoint = loaded.config.entrypoint;
  image.default_args = loaded.config.command;
  image.environment = EnvironmentOf(loaded.config);
  const std::string& directory = loaded.config.working_directory;
  if (!directory.empty()) image.working_directory = directory;
  image.hold = std::make_shared<const EngineImageName>(EngineImageName{loaded.name});
  return image;
}

Status EngineImages::Load(const LocatedImage& image, const std::string& name,
                          const std::stop_token& stop) {
  if (engine_.HasImage(name)) return Ok{};
  ASSIGN_OR_RETURN(const TemporaryDirectory scratch, MakeScratch(state_, "image-"));
  const Path archive = scratch.path() / "image.tar";
  RETURN_IF_ERROR(image.store->Export(image.digest, name, archive));
  return engine_.Load(archive, stop);
}

}  // namespace caip::host
