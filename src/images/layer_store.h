#pragma once
// Unpacked layers by the digests of their archives ("diff ids"), each once.
//
//   <directory>/<hex>           the files of a layer, complete and synced
//   <directory>/<hex>.remarks   what was left out, a sentence a line
//   <directory>/<hex>.lock      locked for writing by the one who unpacks or removes the layer, for
//                               reading by those who use it
//   <directory>/<hex>.partial   a layer that is being unpacked, or that a killed process has left

#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "images/blob_store.h"
#include "images/digest.h"
#include "images/layer_writer.h"

namespace caip::images {

/// A layer in use. While the object lives, no process removes the layer.
struct UnpackedLayer {
  Path path;
  std::vector<std::string> remarks;
  Fd lock;
};

/// A store on one directory. Any thread, and several processes on one directory.
class LayerStore {
 public:
  /// Makes the directory if it is missing.
  static Result<std::unique_ptr<LayerStore>> Open(Path directory, UnpackLimits limits = {});

  bool Has(const Digest& diff_id) const;
  /// Unpacks the blob, unless the layer is unpacked already. kDataLoss, with the reason
  /// "digestMismatch", if the decompressed bytes have another digest than `diff_id`; the other
  /// errors are those of LayerWriter and TarReader. Callers who want the same layer wait for the
  /// first of them. kCancelled after `stop` is requested.
  Result<UnpackedLayer> Unpack(const BlobStore& blobs, const Digest& blob, const Digest& diff_id,
                               const std::stop_token& stop = {});
  /// Whether somebody uses the layer, or unpacks it.
  bool IsInUse(const Digest& diff_id) const;
  /// Removes all layers except those in `needed` and those in use, and what killed processes have
  /// left. Returns the number of removed layers.
  Result<size_t> RemoveOthers(const std::set<Digest>& needed);

 private:
  LayerStore(Path directory, UnpackLimits limits, Fd opened)
      : directory_(std::move(directory)), limits_(limits), opened_(std::move(opened)) {}

  Result<Fd> Lock(const Digest& diff_id, int kind) const;
  Status UnpackFile(const Fd& file, const Digest& diff_id, const std::stop_token& stop);
  Result<std::vector<std::string>> WritePartial(const Fd& file, const Digest& diff_id,
                                                const std::string& partial,
                                                const std::stop_token& stop);
  Result<bool> RemoveUnlessUsed(const Digest& diff_id);

  Path directory_;
  UnpackLimits limits_;
  Fd opened_;  // the directory
};

}  // namespace caip::images
