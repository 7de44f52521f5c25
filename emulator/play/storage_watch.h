#pragma once
// A store whose every use by a replica is told to the director, before and after.

#include <functional>
#include <memory>
#include <string>

#include "fakes/gcs/bucket_store.h"
#include "harness/director.h"

namespace caip::play {

/// Called when a change took effect and before it is told.
using ChangeTaken = std::function<void(const std::string& bucket, const std::string& object)>;

/// `store` and `director` outlive it. Uses by nobody of the job pass untold.
std::unique_ptr<gcs::BucketStore> WatchedStore(gcs::BucketStore& store, harness::Director& director,
                                               ChangeTaken taken = nullptr);

}  // namespace caip::play
