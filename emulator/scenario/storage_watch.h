#pragma once
// A store whose every use by a replica is told to the injector, before and after.

#include <functional>
#include <memory>
#include <string>

#include "fakes/gcs/store/bucket_store.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// Who is told of what the store itself did; on the thread that asked for it.
struct StoreListener {
  /// A change took effect; before the injector is told.
  std::function<void(const std::string& bucket, const std::string& object)> changed = nullptr;
  /// Bytes could not be written, or an upload could not be ended.
  std::function<void(const Error& error)> failed = nullptr;
};

/// `store` and `injector` outlive it. Uses by nobody of the job pass untold.
std::unique_ptr<gcs::BucketStore> WatchedStore(gcs::BucketStore& store,
                                               harness::FaultInjector& injector,
                                               StoreListener listener = {});

}  // namespace caip::scenario
