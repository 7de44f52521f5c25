#pragma once
// Reports the storage operations of replicas to the fault injector, before and after each.

#include <functional>
#include <memory>
#include <string>

#include "fakes/gcs/store/bucket_store.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// Callbacks on the thread of the operation. Both may be null.
struct StoreListener {
  /// An object changed. Called before the event is reported.
  std::function<void(const std::string& bucket, const std::string& object)> changed = nullptr;
  /// An object could not be written.
  std::function<void(const Error& error)> failed = nullptr;
};

/// `store` and `injector` must outlive the result. Operations of other clients are not reported.
std::unique_ptr<gcs::BucketStore> WatchedStore(gcs::BucketStore& store,
                                               harness::FaultInjector& injector,
                                               StoreListener listener = {});

}  // namespace caip::scenario
