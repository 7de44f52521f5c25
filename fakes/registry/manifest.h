#pragma once
// What a registry reads in a manifest besides the parts of an image: which blobs it need not have,
// and what the referrers API shows.
// https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md

#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "images/image_manifest.h"

namespace caip::registry {

/// A manifest or an index that a client pushes.
struct PushedManifest {
  images::ImageManifest parts;
  /// Layers with URLs, and layers that must not be distributed.
  std::set<images::Digest> elsewhere;
  std::string artifact_type;  // with the rule of the referrers API; "" none
  Json annotations;           // null if there are none
};

/// `content_type` is that of the request; "" if the document alone states it. Errors have the
/// reason "manifestInvalid".
Result<PushedManifest> ParsePushedManifest(std::string_view content_type, std::string_view bytes);

}  // namespace caip::registry
