// The flags of `images list`, `import`, `map` and `remove`, which gcloud does not have.

#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "images/image_reference.h"

namespace caip::cli {
namespace {

// A wrong name is a mistake in the command line.
Status CheckImageName(const std::string& name) {
  const auto reference = images::ImageReference::Parse(name);
  return reference.ok() ? Status(Ok{}) : Status(reference.error());
}

void AddImport(Grammar& grammar, CLI::App& images, const GcloudFlags& gcloud) {
  const auto import = std::make_shared<ImagesImportCommand>();
  CLI::App& app =
      grammar.Leaf(images, "import", "Imports a container image, for jobs that name it.",
                   "Examples:\n  docker save trainer | caip images import - --name "
                   "gcr.io/my-project/trainer:v1\n"
                   "  caip images import image.tar\n  caip images import oci:layout:v1 --name "
                   "gcr.io/my-project/trainer:v1",
                   FinishWith(import, gcloud));
  grammar.Positional(
      app, "SOURCE",
      "An archive of `docker save` or of an OCI layout, compressed or not; a directory "
      "with an OCI layout; or - for the standard input. oci:PATH:TAG chooses one of "
      "several images.",
      To(&import->source));
  grammar.Flag(app, "--name", "URI",
               "Name of the image (default: the names that the archive gives it).",
               [import](const std::string& value) -> Status {
                 RETURN_IF_ERROR(CheckImageName(value));
                 import->name = value;
                 return Ok{};
               });
  AddStateFlag(grammar, app, &import->emulator);
}

void AddMap(Grammar& grammar, CLI::App& images, const GcloudFlags& gcloud) {
  const auto map = std::make_shared<ImagesMapCommand>();
  CLI::App& app = grammar.Leaf(
      images, "map", "Maps container images to local commands or to archives, until it is undone.",
      "Examples:\n  caip images map gcr.io/my-project/trainer:v1='python3 /src/train.py'\n"
      "  caip images map gcr.io/my-project/trainer=oci:layout:v1\n"
      "  caip images map --unset gcr.io/my-project/trainer",
      [map, &gcloud](const Words&) -> Result<Command> {
        if (map->mappings.empty() && map->unset.empty()) return errors::MappingMissing();
        map->gcloud = gcloud;
        return Command(*map);
      });
  grammar.OptionalWords(
      app, "URI=COMMAND",
      "An image, with or without a tag, and the command or the image oci:PATH "
      "that jobs run in its place. --map-image and the configuration win over it.",
      [map](const std::string& value) -> Status {
        auto mapping = app::ReadImageMapping(value);
        if (!mapping) return errors::NotAMapping(value);
        RETURN_IF_ERROR(CheckImageName(mapping->uri));
        map->mappings.push_back(*std::move(mapping));
        return Ok{};
      });
  grammar.Flag(app, "--unset", "URI", "Undo the mapping of this image. Repeatable.",
               Append(&map->unset));
  grammar.Suggest(app, "--unset", {.kind = Values::Kind::kImages});
  AddStateFlag(grammar, app, &map->emulator);
}

}  // namespace

void AddImagesCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  CLI::App& images = grammar.Group(grammar.root(), "images",
                                   "Lists, imports, maps and removes container images for jobs.");
  const auto list = std::make_shared<ImagesListCommand>();
  CLI::App& list_app = grammar.Leaf(
      images, "list", "Lists the images of the state directory.",
      "Examples:\n  caip images list\n  caip images list --format 'value(name,digest)'",
      FinishWith(list, gcloud));
  AddStateFlag(grammar, list_app, &list->emulator);
  AddImport(grammar, images, gcloud);
  AddMap(grammar, images, gcloud);
  const auto remove = std::make_shared<ImagesRemoveCommand>();
  CLI::App& app = grammar.Leaf(
      images, "remove",
      "Removes names and mappings of images, and the files that no other image needs.",
      "Examples:\n  caip images remove gcr.io/my-project/trainer:v1", FinishWith(remove, gcloud));
  grammar.Positional(
      app, "URI", "Name of an image, with a tag (default: latest) or a digest.",
      [remove](const std::string& value) -> Status {
        RETURN_IF_ERROR(CheckImageName(value));
        remove->names.push_back(value);
        return Ok{};
      },
      true);
  grammar.Suggest(app, "URI", {.kind = Values::Kind::kImages});
  AddStateFlag(grammar, app, &remove->emulator);
}

}  // namespace caip::cli
