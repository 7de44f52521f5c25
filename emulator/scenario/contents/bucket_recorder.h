#pragma once
// Records each change of the buckets of a run, so that any earlier state can be restored.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::scenario {

/// One generation of an object: a file with its bytes, and its metadata.
struct KeptObject {
  Path file;
  gcs::ObjectInfo info;
  std::string digest;  // equal for equal bytes
};
using KeptObjectPtr = std::shared_ptr<const KeptObject>;

/// The objects of all buckets at one time, by "bucket/path".
using BucketState = std::map<std::string, KeptObjectPtr>;

/// The store calls it at each change, before the client gets its answer. Any thread.
class BucketRecorder {
 public:
  /// Keeps files in `directory`, which the caller deletes.
  explicit BucketRecorder(Path directory) : directory_(std::move(directory)) {}

  /// Records the buckets before the run.
  Status Begin(gcs::DirectoryStore& store);
  /// Records that the object was written or deleted.
  void Take(gcs::DirectoryStore& store, const std::string& bucket, const std::string& name);

  /// The first error of any call.
  Status outcome() const;
  /// The recorded states: that of Begin, then one after each Take.
  std::vector<BucketState> states() const;

 private:
  KeptObjectPtr Keep(gcs::DirectoryStore& store, const gcs::ObjectInfo& info);

  Path directory_;
  mutable std::mutex mutex_;
  std::vector<BucketState> states_;
  int files_ = 0;
  Status outcome_ = Ok{};
};

/// A text that is equal for states with the same names and bytes.
std::string KeyOf(const BucketState& state);

/// Writes the objects to the store. Creates missing buckets.
Status Restore(const BucketState& state, gcs::DirectoryStore& store);

}  // namespace caip::scenario
