#pragma once
// Whether a request's conditions hold for what is there.

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// `live`: the object, or nullptr when there is none. kFailedPrecondition names the condition.
Status CheckPreconditions(const Preconditions& preconditions, const ObjectInfo* live);

/// The same for what has no generation: a bucket or a managed folder.
Status CheckMetagenerationConditions(const Preconditions& preconditions, int64_t metageneration);

}  // namespace caip::gcs
