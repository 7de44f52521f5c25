#pragma once
// A port: what is looked at in Cloud Storage before a job is accepted.

#include <string>

namespace caip::run {

/// Blocks; any thread but the engine's.
class StorageProbe {
 public:
  virtual ~StorageProbe() = default;
  virtual bool BucketExists(const std::string& bucket) const = 0;
  /// Proved by writing and deleting an object below the prefix.
  virtual bool Writable(const std::string& bucket, const std::string& prefix) = 0;
  virtual bool ObjectReadable(const std::string& bucket, const std::string& object) const = 0;
};

}  // namespace caip::run
