#pragma once
// Container images as commands of this host: caip pulls no images.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/program.h"

namespace caip::host {

/// By URI, with or without a tag: the entrypoint as a local command.
using ImageMap = std::map<std::string, std::vector<std::string>>;

/// The command of `uri` or, failing that, of the image without its tag; nullptr when neither is
/// mapped.
const std::vector<std::string>* FindImage(const ImageMap& images, const std::string& uri);

/// An image with its entrypoint; other programs as they are. kFailedPrecondition: it is not mapped.
Result<run::Program> ResolveImage(const ImageMap& images, const run::Program& program);

}  // namespace caip::host
