#include "engine/image_map.h"

namespace caip::engine {
namespace {

// "gcr.io/p/i:1" and "gcr.io/p/i@sha256:..." -> "gcr.io/p/i"; a port is no tag.
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

ImageMap ImagesOf(const ml::TrainingInput& input, const ImageMap& images) {
  ImageMap used;
  for (const run::Role role : run::kRoles) {
    const auto& config = input.Of(role).config;
    if (!config || config->image_uri.empty()) continue;
    if (const auto* command = FindImage(images, config->image_uri)) {
      used[config->image_uri] = *command;
    }
  }
  return used;
}

}  // namespace caip::engine
