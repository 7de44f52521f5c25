#pragma once
// Where images are imported from: a directory with the OCI image layout, an archive of one, or what
// `docker save` writes. Archives may be compressed, and may come from a pipe.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "images/blob_store.h"
#include "images/image_manifest.h"
#include "images/layer_writer.h"

namespace caip::images {

/// The place of an image, as a person types it.
struct ImageSource {
  /// "-", "image.tar", "directory", and with the words of other tools "oci:DIRECTORY[:TAG]",
  /// "oci-archive:FILE[:TAG]" and "docker-archive:FILE[:NAME]".
  static ImageSource Parse(std::string_view text);

  bool IsStandardInput() const { return path == "-"; }
  /// The path, or "the standard input", for messages.
  std::string text() const;

  Path path;
  std::string tag = {};  // one of several images; "" if there is only one, or all are wanted
};

/// The files of a source, by their paths in it: "index.json", "blobs/sha256/<hex>".
class SourceFiles {
 public:
  virtual ~SourceFiles() = default;
  virtual bool Has(const std::string& name) = 0;
  /// kNotFound if there is none; kOutOfRange beyond `limit` bytes.
  virtual Result<std::string> Read(const std::string& name, size_t limit) = 0;
  /// Copies the file into the blob store, unless it is there. With `expected`, kDataLoss and the
  /// reason "digestMismatch" if the file has another digest. Files of this host also replace a blob
  /// of the store that is damaged.
  virtual Result<BlobInfo> Store(const std::string& name, const Digest* expected) = 0;
};

/// An image whose files are elsewhere, such as in a registry.
struct OfferedImage {
  Descriptor manifest;  // of a manifest or an index
  std::unique_ptr<SourceFiles> files;
};
/// Opens such an image for machines of `host`. It may put manifests into the store.
using OpenOffer = std::function<Result<OfferedImage>(BlobStore& blobs, const Platform& host)>;

/// Opens a source. An archive is read to its end once; the blob store has its files as uploads,
/// which become blobs by Store and Read. The others are deleted with the object. The caller holds
/// the lock of the image store (LockForAdding). kNotFound if the path does not exist.
Result<std::unique_ptr<SourceFiles>> OpenSource(const ImageSource& source, BlobStore& blobs,
                                                const UnpackLimits& limits);

}  // namespace caip::images
