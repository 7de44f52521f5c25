#pragma once
// The part of a record that is kept as JSON text, so that a new field needs no new column.

#include <string>
#include <string_view>

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// All but bucket, name, generation, size and sums, which have columns of their own.
std::string ObjectRecordText(const ObjectInfo& info);
ObjectInfo ObjectFromRecordText(std::string_view text);

std::string BucketRecordText(const Bucket& bucket);
Bucket BucketFromRecordText(std::string_view text);

}  // namespace caip::gcs
