#pragma once
// Which local command stands for the entrypoint of a container image.

#include <map>
#include <string>
#include <vector>

#include "ml/job.h"

namespace caip::engine {

/// Image URI -> the local command that stands for its entrypoint.
using ImageMap = std::map<std::string, std::vector<std::string>>;

/// The command of `uri`, or of the same image named without tag and digest; nullptr if there is
/// none.
const std::vector<std::string>* FindImage(const ImageMap& images, const std::string& uri);

/// The part of `images` that the job uses, under the URIs by which it names them.
ImageMap ImagesOf(const ml::TrainingInput& input, const ImageMap& images);

}  // namespace caip::engine
