#pragma once
// Limits that all of Google's APIs share, each with the page that documents it.

#include <cstddef>

namespace caip::google {

// docs/resource-labels
inline constexpr size_t kLabelsMax = 64;
inline constexpr size_t kLabelLengthMax = 63;

// Cloud Storage, naming of buckets and objects
inline constexpr size_t kBucketNameLengthMin = 3;
inline constexpr size_t kBucketNameLengthMax = 222;
inline constexpr size_t kBucketNamePartMax = 63;
inline constexpr size_t kObjectNameLengthMax = 1024;

}  // namespace caip::google
