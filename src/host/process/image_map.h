#pragma once
// Maps container images to commands of this host, because caip pulls no images.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/program.h"

namespace caip::host {

/// The local command of an image, which replaces its entrypoint, by URI with or without a tag.
using ImageMap = std::map<std::string, std::vector<std::string>>;

/// The command of `uri`, else that of the image without its tag; nullptr if neither is mapped.
const std::vector<std::string>* FindImage(const ImageMap& images, const std::string& uri);

/// Returns an image with its entrypoint, and other programs unchanged. kFailedPrecondition: the
/// image is not mapped.
Result<run::Program> ResolveImage(const ImageMap& images, const run::Program& program);

}  // namespace caip::host
