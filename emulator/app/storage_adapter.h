#pragma once
// Cloud Storage for the engine and the packager: implements their ports with the bucket store.

#include "fakes/gcs/store/directory_store.h"
#include "host/python/packages.h"
#include "run/storage_probe.h"

namespace caip::app {

/// Any thread. `buckets` outlives it.
class StorageAdapter final : public run::StorageProbe, public host::PackageSource {
 public:
  /// `create_buckets`: a missing bucket counts as present, and is created by the first write.
  StorageAdapter(gcs::DirectoryStore& buckets, bool create_buckets)
      : buckets_(buckets), create_buckets_(create_buckets) {}

  bool BucketExists(const std::string& bucket) const override;
  bool Writable(const std::string& bucket, const std::string& prefix) override;
  bool ObjectReadable(const std::string& bucket, const std::string& object) const override;

  Result<Facts> Describe(const std::string& uri) override;
  Status Fetch(const std::string& uri, const Path& destination) override;

 private:
  gcs::DirectoryStore& buckets_;
  bool create_buckets_;
};

}  // namespace caip::app
