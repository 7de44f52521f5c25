#pragma once
// The mappings of images that `caip images map` keeps in a state directory, in
// <state>/images/map.json: {"gcr.io/p/i:v1": ["python3", "train.py"], "gcr.io/p/j":
// ["oci:/j.tar"]}.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/process/image_map.h"

namespace caip::host {

/// Any thread, and several processes on one directory. Nothing is kept in memory, so that a change
/// takes effect for the next job of a running emulator.
class KeptMappings {
 public:
  /// `store` is the directory of images/image_store.h.
  explicit KeptMappings(const Path& store) : directory_(store) {}

  /// Empty if nothing is mapped. kDataLoss if the file is damaged.
  Result<ImageMap> Read() const;
  /// Maps an image, and replaces an earlier mapping of this URI.
  Status Set(const std::string& uri, const std::vector<std::string>& entry);
  /// False if the URI is not mapped.
  Result<bool> Unset(const std::string& uri);

 private:
  Path File() const { return directory_ / "map.json"; }
  Result<Fd> Lock() const;
  Status Write(const ImageMap& map) const;

  Path directory_;
};

}  // namespace caip::host
