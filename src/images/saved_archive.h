#pragma once
// Writes an image as `docker save` does, for container engines to load.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "images/blob_store.h"
#include "images/image_manifest.h"

namespace caip::images {

/// Writes a new file: manifest.json, the configuration, and each layer once, compressed as it is
/// stored. `name` is the image's only name, "repository:tag".
Status WriteSavedArchive(const ImageManifest& manifest, const std::string& name, BlobStore& blobs,
                         const Path& file);

}  // namespace caip::images
