#pragma once
// Writes the objects of a scenario into buckets, and reads those that a run left.

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::scenario {

Status WriteObject(gcs::BucketStore& store, const std::string& bucket, const std::string& name,
                   std::string_view bytes);

/// Writes the files below a directory as objects.
Status WriteTree(gcs::BucketStore& store, const std::string& bucket, const Path& from);

/// The bytes of an object; of a large one its size and its MD5.
Result<std::string> ReadForComparison(gcs::BucketStore& store, const gcs::ObjectInfo& info);

}  // namespace caip::scenario
