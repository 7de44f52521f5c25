#pragma once
// A store whose every use by a replica is told to the director, before and after.

#include <memory>

#include "fakes/gcs/bucket_store.h"
#include "harness/director.h"

namespace caip::play {

/// `store` and `director` outlive it. Uses by nobody of the job pass untold.
std::unique_ptr<gcs::BucketStore> WatchedStore(gcs::BucketStore& store,
                                               harness::Director& director);

}  // namespace caip::play
