// `caip images list|import|map|remove`: the image store of the state directory. An emulator may use
// it at the same time.

#include <filesystem>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "emulator/app/state/upgrade.h"
#include "emulator/app/version.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/byte_count.h"
#include "emulator/cli/print/resource_text.h"
#include "host/images/kept_mappings.h"
#include "host/store/state_directory.h"
#include "images/image_store.h"

namespace caip::cli {
namespace {

using images::ImageReference;
using images::ImageStore;
using images::ListedImage;

// The columns of `docker image ls`, with the whole name in one.
constexpr std::string_view kImageColumns = "table(name,id:label=DIGEST,platform,size,status)";

// An emulator makes the same directory when it starts, and refuses the same states.
Status MakeState(const Path& state) {
  RETURN_IF_ERROR(app::PlanMigrations(state, app::kVersion));
  return host::StateDirectory::Make(state);
}

Result<std::unique_ptr<ImageStore>> OpenStore(const app::EmulatorFlags& flags) {
  const Path state = app::StateDirectory(flags);
  RETURN_IF_ERROR(MakeState(state));
  return ImageStore::Open(state / "images");
}

Json AsJson(const ListedImage& image) {
  const images::ImageName& name = image.name;
  Json object = {{"name", name.text()},
                 {"repository", name.repository},
                 {"tag", name.tag},
                 {"digest", name.digest.text()},
                 {"id", name.digest.hex().substr(0, 12)},
                 {"mediaType", name.media_type}};
  if (!image.platform) {
    object["status"] = image.problem;
    return object;
  }
  object["platform"] = image.platform->text();
  object["size"] = ByteCountText(image.bytes);
  object["sizeBytes"] = std::to_string(image.bytes);
  object["layers"] = image.layers;
  object["status"] = image.is_unpacked ? "unpacked" : "imported";
  return object;
}

Json AsJson(const std::string& uri, const std::vector<std::string>& entry) {
  std::vector<std::string> words;
  for (const std::string& word : entry) words.push_back(ShellQuoted(word));
  return {
      {"name", uri}, {"mappedTo", Join(words, " ")}, {"status", "mapped to " + Join(words, " ")}};
}

host::KeptMappings MappingsOf(const app::EmulatorFlags& flags) {
  return host::KeptMappings(app::StateDirectory(flags) / "images");
}

Status ListImages(const ImagesListCommand& command, const Surroundings& world) {
  Json resources = Json::array();
  std::error_code error;
  if (std::filesystem::exists(app::StateDirectory(command.emulator) / "images", error)) {
    ASSIGN_OR_RETURN(const auto store, OpenStore(command.emulator));
    ASSIGN_OR_RETURN(const std::vector<ListedImage> listed, store->List());
    for (const ListedImage& image : listed) resources.push_back(AsJson(image));
    ASSIGN_OR_RETURN(const host::ImageMap mappings, MappingsOf(command.emulator).Read());
    for (const auto& [uri, entry] : mappings) resources.push_back(AsJson(uri, entry));
  }
  if (resources.empty() && !command.gcloud.format) world.io.err("Listed 0 items.\n");
  const std::string format = command.gcloud.format.value_or("table");
  ASSIGN_OR_RETURN(
      const std::string text,
      FormatResources(resources, format == "table" ? kImageColumns : std::string_view(format)));
  world.io.out(text);
  return Ok{};
}

Status ImportImage(const ImagesImportCommand& command, const Surroundings& world) {
  std::optional<ImageReference> name;
  if (command.name) {
    ASSIGN_OR_RETURN(name, ImageReference::Parse(*command.name));
  }
  ASSIGN_OR_RETURN(const auto store, OpenStore(command.emulator));
  ASSIGN_OR_RETURN(const auto imported,
                   store->Import(images::ImageSource::Parse(command.source), name));
  for (const images::ImportedImage& image : imported) {
    for (const ImageReference& given : image.names) {
      world.io.err("Imported " + images::FamiliarName(given.repository(), given.tag()) + " (" +
                   image.digest.text() + ").\n");
    }
  }
  return Ok{};
}

Status MapImages(const ImagesMapCommand& command, const Surroundings& world) {
  RETURN_IF_ERROR(MakeState(app::StateDirectory(command.emulator)));
  host::KeptMappings kept = MappingsOf(command.emulator);
  for (const std::string& uri : command.unset) {
    ASSIGN_OR_RETURN(const bool was_mapped, kept.Unset(uri));
    if (!was_mapped) return errors::MappingUnknown(uri);
    world.io.err("Removed the mapping of " + uri + ".\n");
  }
  for (const app::ImageMapping& mapping : command.mappings) {
    RETURN_IF_ERROR(kept.Set(mapping.uri, mapping.entry));
    world.io.err("Mapped " + mapping.uri + " to " +
                 StringOr(AsJson(mapping.uri, mapping.entry), "mappedTo") + ".\n");
  }
  return Ok{};
}

// The name may be of an image, of a mapping, or of both.
Status RemoveImage(const std::string& text, ImageStore& store, host::KeptMappings& kept,
                   const Surroundings& world) {
  ASSIGN_OR_RETURN(const ImageReference name, ImageReference::Parse(text));
  ASSIGN_OR_RETURN(const bool was_mapped, kept.Unset(text));
  if (was_mapped) world.io.err("Removed the mapping of " + text + ".\n");
  const auto removed = store.Remove(name);
  const bool is_missing = !removed.ok() && removed.error().code == Code::kNotFound;
  if (is_missing) return was_mapped ? Status(Ok{}) : Status(errors::ImageMissing(removed.error()));
  if (!removed.ok()) return removed.error();
  world.io.err("Removed " + text + " (blobs: " + std::to_string(removed->blobs) +
               ", unpacked layers: " + std::to_string(removed->layers) + ").\n");
  return Ok{};
}

Status RemoveImages(const ImagesRemoveCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const auto store, OpenStore(command.emulator));
  host::KeptMappings kept = MappingsOf(command.emulator);
  for (const std::string& text : command.names) {
    RETURN_IF_ERROR(RemoveImage(text, *store, kept, world));
  }
  return Ok{};
}

int ImagesExitCode(const Status& done, const char* command, const Io& io) {
  return done.ok() ? static_cast<int>(kExitSuccess) : Fail(io, command, done.error());
}

}  // namespace

int RunImagesList(const ImagesListCommand& command, const Surroundings& world) {
  return ImagesExitCode(ListImages(command, world), "images.list", world.io);
}

int RunImagesImport(const ImagesImportCommand& command, const Surroundings& world) {
  return ImagesExitCode(ImportImage(command, world), "images.import", world.io);
}

int RunImagesMap(const ImagesMapCommand& command, const Surroundings& world) {
  return ImagesExitCode(MapImages(command, world), "images.map", world.io);
}

int RunImagesRemove(const ImagesRemoveCommand& command, const Surroundings& world) {
  return ImagesExitCode(RemoveImages(command, world), "images.remove", world.io);
}

}  // namespace caip::cli
