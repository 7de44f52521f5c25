#pragma once
// Buckets that an earlier version stored, with settings that this version refuses.

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Leaves out the settings of a bucket that no request may set today, so that every client can read
/// the bucket: clients in Go list no bucket at all if the type of one setting is wrong. An unknown
/// location or storage class becomes the default one, and missing times that the service derives
/// are added. What is stored stays until a request changes the bucket. Any thread.
class StoredSettings {
 public:
  /// Receives one text for each such bucket.
  using Warn = std::function<void(const std::string& text)>;
  explicit StoredSettings(Warn warn) : warn_(std::move(warn)) {}

  Bucket Readable(Bucket bucket);
  /// For a bucket that was deleted.
  void Forget(const std::string& name);

 private:
  // The last result for a bucket, because most buckets do not change.
  struct Known {
    Bucket stored;
    Bucket readable;
  };

  Warn warn_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

}  // namespace caip::gcs
