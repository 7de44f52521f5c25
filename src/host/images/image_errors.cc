#include "host/images/image_errors.h"

#include <cerrno>
#include <climits>
#include <cstring>

namespace caip::host::errors {
namespace {

std::string OtherDigestNote(std::string_view uri) {
  const bool has_digest = uri.find('@') != std::string_view::npos;
  return has_digest ? " An image of that name with another digest is not used." : "";
}

std::string MeaningOf(int status, const std::string& place) {
  if (status == 404) return "It does not have " + place + ". Push the image to it.";
  if (status == 401 || status == 403) {
    return "It wants a login, which the emulator does not have. Import the image, or let the "
           "registry serve this host without a login.";
  }
  if (status >= 300 && status < 400) {
    return "It names another place for " + place +
           ". The emulator follows no redirects, because they may lead to other hosts.";
  }
  return "Its log may say why.";
}

}  // namespace

Error ImageNotFound(std::string_view uri) {
  const std::string image(uri);
  return {
      Code::kFailedPrecondition,
      "The image '" + image +
          "' is not on this host: it is not in the emulator's registry, not in podman and not in "
          "docker." +
          OtherDigestNote(uri) +
          " The emulator pulls no images from other hosts. Push it to the emulator (docker push), "
          "import it (docker save " +
          image + " | caip images import -), or name a command that replaces it (--map-image '" +
          image + "=COMMAND')."};
}

Error ImageNeedsMachine(std::string_view uri) {
  const std::string image(uri);
  return {Code::kFailedPrecondition,
          "The image '" + image +
              "' cannot run, because replicas are processes of this host. Let each replica have a "
              "machine of its own (--isolation machine; `caip doctor` shows whether this host "
              "allows it), run it in a container (--container-engine podman or docker), or name a "
              "command that replaces the image (--map-image '" +
              image + "=COMMAND')."};
}

Error ImageUnusable(std::string_view uri, const Error& cause) {
  Error error = cause;
  error.message = "The image '" + std::string(uri) + "' cannot run: " + cause.message;
  return error;
}

std::string RunsImage(std::string_view uri, std::string_view digest) {
  return "The image '" + std::string(uri) + "' is " + std::string(digest) + ".";
}

std::string ImageRunsInGroupOfRoot(uint32_t group) {
  return "The image names the user root with the group " + std::to_string(group) +
         ". It runs in the group of root, because the user of the emulator is not root and cannot "
         "give root another group.";
}

Error NotInEngines() { return {Code::kNotFound, "No container engine has the image."}; }

Error EngineCannotSave(std::string_view engine, std::string_view last) {
  return {Code::kUnavailable, std::string(engine) + " cannot save it: " + std::string(last)};
}

Error RegistryNotReachable(std::string_view registry, const Error& cause) {
  return {Code::kUnavailable,
          "The registry at " + std::string(registry) + " does not serve it: " + cause.message +
              ". Start the registry, or import the image (caip images import)."};
}

Error RegistryAnswered(std::string_view registry, int status, std::string_view place) {
  return {Code::kFailedPrecondition, "The registry at " + std::string(registry) +
                                         " answered with status " + std::to_string(status) + ". " +
                                         MeaningOf(status, std::string(place))};
}

Error RegistrySentAnotherManifest(std::string_view registry, std::string_view expected,
                                  std::string_view digest) {
  return {Code::kDataLoss, "The registry at " + std::string(registry) +
                               " sent a manifest with the digest " + std::string(digest) +
                               " instead of " + std::string(expected) + "."};
}

Error RegistrySentTooMuch(std::string_view registry, std::string_view digest, uint64_t size) {
  return {Code::kDataLoss, "The registry at " + std::string(registry) + " sent more than the " +
                               std::to_string(size) + " bytes that the blob " +
                               std::string(digest) + " has."};
}

Error MappedImageDiffers(std::string_view place, std::string_view expected,
                         std::string_view digest) {
  return {Code::kFailedPrecondition, "It is mapped to '" + std::string(place) +
                                         "', which has the image " + std::string(digest) +
                                         " instead of " + std::string(expected) +
                                         ". Map it to an OCI layout that has that manifest, or "
                                         "name the image by its tag."};
}

Error MappedPlaceUnreadable(std::string_view place, int error_number) {
  return {error_number == ENOENT ? Code::kNotFound : Code::kFailedPrecondition,
          "It is mapped to '" + std::string(place) +
              "', which cannot be read: " + std::strerror(error_number) +
              ". Map it to an archive of `docker save`, or to a directory or archive with an OCI "
              "layout (--map-image URI=oci:PATH, or caip images map URI=oci:PATH)."};
}

Error MappingsDamaged(std::string_view file) {
  return {Code::kDataLoss, "The mappings of images in '" + std::string(file) +
                               "' are damaged. Remove the file, and map the images again "
                               "(caip images map)."};
}

std::string DriverOfGpusMissing(std::string_view task) {
  return "The container of " + std::string(task) +
         " gets the device files of its GPUs without their driver: this host has neither a "
         "description of it in /etc/cdi nor a libcuda.so.1 that caip finds. CUDA does not work "
         "there. Describe the driver with `nvidia-ctk cdi generate "
         "--output=/etc/cdi/nvidia.yaml`.";
}

Error UserNotInImage(std::string_view name) {
  return {Code::kNotFound, "Its user '" + std::string(name) +
                               "' is not in /etc/passwd of the image. Add it there, or name a "
                               "number (USER 1000)."};
}

Error GroupNotInImage(std::string_view name) {
  return {Code::kNotFound, "Its group '" + std::string(name) +
                               "' is not in /etc/group of the image. Add it there, or name a "
                               "number (USER 1000:100)."};
}

namespace {

Error IdTooLarge(std::string_view kind, std::string_view name, std::string_view id) {
  return {Code::kNotFound,
          "The ID " + std::string(id) + " of its " + std::string(kind) + " '" + std::string(name) +
              "' is too large: IDs of users and groups are at most 2147483647. Name another one "
              "(USER 1000:100), or change it in /etc/passwd and /etc/group of the image."};
}

}  // namespace

Error UserIdTooLarge(std::string_view name, std::string_view id) {
  return IdTooLarge("user", name, id);
}

Error GroupIdTooLarge(std::string_view name, std::string_view id) {
  return IdTooLarge("group", name, id);
}

Error TooManyGroups(std::string_view user, size_t count) {
  return {Code::kNotFound,
          "Its user '" + std::string(user) + "' is a member of " + std::to_string(count) +
              " groups in /etc/group of the image, but a process has at most " +
              std::to_string(NGROUPS_MAX) + ". Name the user with one group (USER name:group)."};
}

Error ImageWithoutLayers() {
  return {Code::kFailedPrecondition,
          "It has no layers, so it has no program to run. Build it from files (COPY, or another "
          "image in FROM)."};
}

Error WorkingDirectoryIsFile(std::string_view directory) {
  return {Code::kFailedPrecondition,
          "Its working directory '" + std::string(directory) +
              "' is not a directory: the image has a file there or above it. Name a directory "
              "(WORKDIR). A directory that is missing is made."};
}

Error WorkingDirectoryHasTooManyLinks(std::string_view directory) {
  return {Code::kFailedPrecondition,
          "Its working directory '" + std::string(directory) +
              "' leads through more than 40 symbolic links, or in a circle of them. Name a "
              "directory (WORKDIR)."};
}

Error WorkingDirectoryTooLong(size_t bytes) {
  return {Code::kFailedPrecondition,
          "Its working directory has a path of " + std::to_string(bytes) +
              " bytes. A path has at most 4095 bytes, and each name in it at most 255. Name "
              "another directory (WORKDIR)."};
}

Error ImageHasNoPlaceFor(std::string_view uri, std::string_view place, int error_number) {
  const std::string path(place);
  return ImageUnusable(uri, {Code::kFailedPrecondition,
                             "A machine needs its own '" + path +
                                 "', and the image has something there, or above it, that does not "
                                 "allow it: " +
                                 std::strerror(error_number) + ". Remove '" + path +
                                 "' from the image, or make it an ordinary file or directory, as "
                                 "other images have it."});
}

Error ImageHasNoMachine(std::string_view uri, std::string_view why) {
  return {Code::kFailedPrecondition,
          "The image '" + std::string(uri) +
              "' cannot run, because replicas cannot have machines of their own on this host (" +
              std::string(why) +
              "). Run it in a container (--container-engine podman or docker), or name a command "
              "that replaces the image (--map-image '" +
              std::string(uri) + "=COMMAND')."};
}

}  // namespace caip::host::errors
