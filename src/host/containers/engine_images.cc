#include "host/containers/engine_images.h"

#include "host/images/image_errors.h"
#include "host/store/scratch.h"
#include "images/image_store.h"

namespace caip::host {
namespace {

constexpr char kRepositoryInEngine[] = "localhost/caip:";
constexpr size_t kTagDigitsInEngine = 32;

}  // namespace

Result<engine::PreparedImage> EngineImages::Provide(const std::string& uri,
                                                    const std::string& source, const Note& note,
                                                    const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const LocatedImage found, images_->Locate(uri, source, stop));
  const auto config = found.store->ReadConfig(found.digest);
  if (!config.ok()) return errors::ImageUnusable(uri, config.error());
  const std::string name = kRepositoryInEngine + found.digest.hex().substr(0, kTagDigitsInEngine);
  const Status loaded = Load(found, name, stop);
  if (!loaded.ok()) return errors::ImageUnusable(uri, loaded.error());
  note(engine::Severity::kInfo, errors::RunsImage(uri, found.digest.text()));
  engine::PreparedImage image;
  image.entrypoint = config->entrypoint;
  image.default_args = config->command;
  image.environment = EnvironmentOf(*config);
  if (!config->working_directory.empty()) image.working_directory = config->working_directory;
  image.hold = std::make_shared<const EngineImageName>(EngineImageName{name});
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
