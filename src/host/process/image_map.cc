#include "host/process/image_map.h"

#include <algorithm>
#include <array>

namespace caip::host {
namespace {

constexpr std::array<std::string_view, 3> kLocations = {"oci:", "oci-archive:", "docker-archive:"};

// Removes the tag: "gcr.io/p/i:1" and "gcr.io/p/i@sha256:..." become "gcr.io/p/i". The colon before
// a port does not start a tag.
std::string WithoutTag(const std::string& uri) {
  const std::string name = uri.substr(0, uri.find('@'));
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool has_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return has_tag ? name.substr(0, colon) : name;
}

using ImageEntry = std::optional<std::vector<std::string>>;

Result<ImageEntry> EntryFor(const ImageRules& rules, const std::string& uri) {
  if (const auto* given = FindImage(rules.map, uri)) return ImageEntry(*given);
  if (rules.kept) {
    ASSIGN_OR_RETURN(const ImageMap kept, rules.kept());
    if (const auto* found = FindImage(kept, uri)) return ImageEntry(*found);
  }
  return rules.built_in ? rules.built_in(uri) : Result<ImageEntry>(ImageEntry());
}

}  // namespace

const std::vector<std::string>* FindImage(const ImageMap& images, const std::string& uri) {
  auto found = images.find(uri);
  if (found == images.end()) found = images.find(WithoutTag(uri));
  return found == images.end() ? nullptr : &found->second;
}

std::string_view LocationWord(std::string_view text) {
  const auto word = std::ranges::find_if(
      kLocations, [text](std::string_view location) { return text.starts_with(location); });
  return word == kLocations.end() ? "" : *word;
}

std::optional<std::string> ImageLocation(const std::vector<std::string>& entry) {
  const std::string_view word = entry.size() == 1 ? LocationWord(entry.front()) : "";
  return word.empty() ? std::nullopt : std::optional(entry.front().substr(word.size()));
}

void AddKeptMappings(const ImageMap& kept, ImageMap& map) {
  const ImageMap given = map;
  for (const auto& [uri, entry] : kept) {
    if (!FindImage(given, uri)) map[uri] = entry;
  }
}

Result<run::Program> ResolveImage(const ImageRules& rules, const run::Program& program) {
  const auto* image = std::get_if<run::ContainerImage>(&program);
  if (!image) return program;
  ASSIGN_OR_RETURN(const ImageEntry entry, EntryFor(rules, image->uri));
  const auto location = entry ? ImageLocation(*entry) : std::nullopt;
  run::ContainerImage resolved = *image;
  if (entry && !location) {
    resolved.entrypoint = *entry;
  } else {
    resolved.source = location.value_or("");
    if (rules.look_up) RETURN_IF_ERROR(rules.look_up(image->uri, resolved.source));
  }
  return run::Program(std::move(resolved));
}

}  // namespace caip::host
