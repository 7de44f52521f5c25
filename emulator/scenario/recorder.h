#pragma once
// Keeps what a run wrote, so that its buckets can be had again as they were at any moment.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::scenario {

/// The bytes of one generation, kept in a file of their own, and what is known beside them.
struct KeptObject {
  Path file;
  gcs::ObjectInfo info;
  std::string digest;  // equal for equal bytes
};
using KeptObjectPtr = std::shared_ptr<const KeptObject>;

/// Buckets at one moment: "bucket/path" -> what was there.
using BucketState = std::map<std::string, KeptObjectPtr>;

/// Told by the store of each change, while whoever made it is still waiting. Any thread.
class Recorder {
 public:
  /// Files go to `directory`, which is the caller's to delete.
  explicit Recorder(Path directory) : directory_(std::move(directory)) {}

  /// Before the run: all that is there.
  Status Begin(gcs::DirectoryStore& store);
  /// The object was written, or is gone.
  void Take(gcs::DirectoryStore& store, const std::string& bucket, const std::string& name);

  /// Whether all could be kept.
  Status outcome() const;
  /// The states: first the one of Begin, then one behind each Take.
  std::vector<BucketState> states() const;

 private:
  KeptObjectPtr Keep(gcs::DirectoryStore& store, const gcs::ObjectInfo& info);

  Path directory_;
  mutable std::mutex mutex_;
  std::vector<BucketState> states_;
  int files_ = 0;
  Status outcome_ = Ok{};
};

/// Equal for states that hold the same names with the same bytes.
std::string KeyOf(const BucketState& state);

/// Puts the objects into buckets that are made where they are missing.
Status Restore(const BucketState& state, gcs::DirectoryStore& store);

}  // namespace caip::scenario
