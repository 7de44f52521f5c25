// The flags of `images list`, `import` and `remove`, which gcloud does not have.

#include "emulator/cli/arguments/definitions.h"
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

}  // namespace

void AddImagesCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  CLI::App& images = grammar.Group(grammar.root(), "images",
                                   "Lists, imports and removes container images for jobs.");
  const auto list = std::make_shared<ImagesListCommand>();
  CLI::App& list_app = grammar.Leaf(
      images, "list", "Lists the images of the state directory.",
      "Examples:\n  caip images list\n  caip images list --format 'value(name,digest)'",
      FinishWith(list, gcloud));
  AddStateFlag(grammar, list_app, &list->emulator);
  AddImport(grammar, images, gcloud);
  const auto remove = std::make_shared<ImagesRemoveCommand>();
  CLI::App& app = grammar.Leaf(
      images, "remove", "Removes names of images, and the files that no other image needs.",
      "Examples:\n  caip images remove gcr.io/my-project/trainer:v1", FinishWith(remove, gcloud));
  grammar.Positional(
      app, "URI", "Name of an image, with a tag (default: latest) or a digest.",
      [remove](const std::string& value) -> Status {
        RETURN_IF_ERROR(CheckImageName(value));
        remove->names.push_back(value);
        return Ok{};
      },
      true);
  AddStateFlag(grammar, app, &remove->emulator);
}

}  // namespace caip::cli
