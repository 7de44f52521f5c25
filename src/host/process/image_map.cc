#include "host/process/image_map.h"

#include "host/errors.h"

namespace caip::host {
namespace {

// Removes the tag: "gcr.io/p/i:1" and "gcr.io/p/i@sha256:..." become "gcr.io/p/i". The colon before
// a port does not start a tag.
std::string WithoutTag(const std::string& uri) {
  const std::string name = uri.substr(0, uri.find('@'));
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool has_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return has_tag ? name.substr(0, colon) : name;
}

}  // namespace

const std::vector<std::string>* FindImage(const ImageMap& images, const std::string& uri) {
  auto found = images.find(uri);
  if (found == images.end()) found = images.find(WithoutTag(uri));
  return found == images.end() ? nullptr : &found->second;
}

Result<run::Program> ResolveImage(const ImageMap& images, const run::Program& program) {
  const auto* image = std::get_if<run::ContainerImage>(&program);
  if (!image) return program;
  const std::vector<std::string>* command = FindImage(images, image->uri);
  if (!command) return errors::ImageNotMapped(image->uri);
  run::ContainerImage resolved = *image;
  resolved.entrypoint = *command;
  return run::Program(std::move(resolved));
}

}  // namespace caip::host
