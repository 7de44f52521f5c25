#include "fakes/registry/manifest.h"

#include "base/text.h"

namespace caip::registry {
namespace {

// The type without parameters: "a/b; charset=utf-8" is "a/b".
std::string BareType(std::string_view content_type) {
  return LowerCase(Trim(content_type.substr(0, content_type.find(';'))));
}

bool IsNotDistributed(std::string_view media_type) {
  return media_type.starts_with("application/vnd.oci.image.layer.nondistributable.") ||
         media_type.starts_with("application/vnd.docker.image.rootfs.foreign.diff.tar");
}

bool HasUrls(const Json& descriptor) {
  const Json* const urls = Member(descriptor, "urls");
  return urls != nullptr && urls->is_array() && !urls->empty();
}

std::set<images::Digest> FindLayersElsewhere(const Json& document,
                                             const images::ImageManifest& parts) {
  std::set<images::Digest> elsewhere;
  const Json* const layers = Member(document, "layers");
  for (size_t i = 0; i < parts.layers.size(); ++i) {
    if (HasUrls((*layers)[i]) || IsNotDistributed(parts.layers[i].media_type)) {
      elsewhere.insert(parts.layers[i].digest);
    }
  }
  return elsewhere;
}

}  // namespace

Result<PushedManifest> ParsePushedManifest(std::string_view content_type, std::string_view bytes) {
  PushedManifest manifest;
  ASSIGN_OR_RETURN(manifest.parts, images::ParseManifest(bytes, BareType(content_type)));
  const Json document = *ParseJson(bytes);
  manifest.elsewhere = FindLayersElsewhere(document, manifest.parts);
  manifest.artifact_type = StringOr(document, "artifactType");
  const auto& config = manifest.parts.config;
  if (manifest.artifact_type.empty() && config) manifest.artifact_type = config->media_type;
  const Json* const annotations = Member(document, "annotations");
  if (annotations != nullptr && annotations->is_object()) manifest.annotations = *annotations;
  return manifest;
}

}  // namespace caip::registry
