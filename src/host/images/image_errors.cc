#include "host/images/image_errors.h"

namespace caip::host::errors {

Error ImageNotFound(std::string_view uri) {
  const std::string image(uri);
  return {
      Code::kFailedPrecondition,
      "The image '" + image +
          "' is not on this host: it is not in the emulator's registry, not in podman and not in "
          "docker. The emulator pulls no images from other hosts. Push it to the emulator "
          "(docker push), import it (docker save " +
          image + " | caip images import -), or name a command that replaces it (--map-image '" +
          image + "=COMMAND')."};
}

Error ImageNeedsMachine(std::string_view uri) {
  const std::string image(uri);
  return {Code::kFailedPrecondition,
          "The image '" + image +
              "' cannot run, because replicas are processes of this host. Let each replica have a "
              "machine of its own (--isolation machine; `caip doctor` shows whether this host "
              "allows it), or name a command that replaces the image (--map-image '" +
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

std::string ImageRunsAsRoot(uint32_t user) {
  return "The image names the user " + std::to_string(user) +
         ". It runs as root of its machine, because only root may start programs as other users.";
}

Error NotInEngines() { return {Code::kNotFound, "No container engine has the image."}; }

Error EngineCannotSave(std::string_view engine, std::string_view last) {
  return {Code::kUnavailable, std::string(engine) + " cannot save it: " + std::string(last)};
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

}  // namespace caip::host::errors
