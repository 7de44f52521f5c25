#pragma once
// Finds the images of a source, and copies one of them into the blob store.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "images/blob_store.h"
#include "images/image_manifest.h"
#include "images/image_names.h"
#include "images/image_source.h"

namespace caip::images {

/// An image of a source.
struct FoundImage {
  Descriptor manifest;                  // of a manifest or an index
  std::vector<std::string> names = {};  // "gcr.io/p/i:tag", "busybox:latest"
  std::vector<std::string> tags = {};   // without a repository: "latest"
};

/// The images of a source, in its order. kNotFound, with the reason "imageMissing", if it has none.
/// The manifest that the old form of `docker save` does not have is made, and stored.
Result<std::vector<FoundImage>> FindImages(SourceFiles& files, const ImageSource& source,
                                           BlobStore& blobs);

/// An image whose blobs are all in the store. Each digest is there once.
struct StoredImage {
  std::vector<ManifestRecord> manifests;  // the image's own first, then the members of an index
  std::vector<Digest> blobs;              // configurations and layers
};

/// What an import may still read of manifests. Small indexes can name the same files very often.
struct ManifestBudget {
  uint64_t count = 100'000;
  uint64_t bytes = 512 << 20;
};

/// Copies the blobs of an image, with the manifests for other platforms that the source has whole.
/// Everything that the image for `host` needs is checked: media types, sizes, digests, the platform
/// and the number of layers. kResourceExhausted, with the reason "imageTooLarge", if `budget`, from
/// which the manifests are taken, is too small.
Result<StoredImage> StoreImage(SourceFiles& files, const Descriptor& manifest, const Platform& host,
                               BlobStore& blobs, ManifestBudget& budget);

/// Whether the configuration fits the manifest and this host.
Status CheckConfig(const ImageConfig& config, const ImageManifest& manifest, const Platform& host);

}  // namespace caip::images
