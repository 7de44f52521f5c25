#pragma once
// Directories of an image that its user may not enter, such as /root of most images. Where one of
// them leads to the state directory, the user would not reach what the launch names there.

#include <string>

#include "engine/ports.h"
#include "host/launcher/protocol.h"

namespace caip::host {

/// The highest directory above `path` that the image's user may not search. "": there is none. The
/// owners of the image's files must be those of the image. `path` is absolute and normal.
std::string FindClosedDirectory(const engine::PreparedImage& image, const std::string& path);

/// Mounts an empty directory over the closed one above `path`, if there is one. It hides
/// nothing, because the user sees nothing below a closed directory. Does nothing where the working
/// directory is below it, or where a mount of the machine leads to the path.
void OpenWayTo(const std::string& path, const engine::ReplicaLaunch& launch,
               launcher::Machine& machine);

}  // namespace caip::host
