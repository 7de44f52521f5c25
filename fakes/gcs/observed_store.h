#pragma once
// A store that tells a listener of each change, before and after: where faults are injected and
// where crash points are counted.

#include <memory>
#include <string>

#include "fakes/gcs/bucket_store.h"

namespace caip::gcs {

/// What is about to change, or has changed.
struct Mutation {
  enum class Kind {
    kCreateBucket,
    kUpdateBucket,
    kDeleteBucket,
    kWrite,
    kDelete,
    kUpdate,
    kMove
  } kind;
  std::string bucket;
  std::string object = {};  // "" for buckets
};

/// Called on the thread that makes the change, from any number of threads at once.
class MutationListener {
 public:
  virtual ~MutationListener() = default;
  /// An error stops the change: nothing happens, and the caller gets this error.
  virtual Status Before(const Mutation& mutation) = 0;
  /// `worked`: the change is durable. Otherwise nothing changed.
  virtual void After(const Mutation& mutation, bool worked) = 0;
};

/// `store` and `listener` must outlive the result. A write is one change: its commit.
std::unique_ptr<BucketStore> Observed(BucketStore& store, MutationListener& listener);

}  // namespace caip::gcs
