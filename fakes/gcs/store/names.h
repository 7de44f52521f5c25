#pragma once
// Which names buckets and objects may have.
// https://cloud.google.com/storage/docs/buckets#naming, .../docs/objects#naming

#include <optional>
#include <string>
#include <string_view>

namespace caip::gcs {

inline constexpr size_t kObjectNameBytesMax = 1024;

/// Why the name is invalid; nullopt if it is valid.
std::optional<std::string> BucketNameProblem(std::string_view name);
std::optional<std::string> ObjectNameProblem(std::string_view name);

}  // namespace caip::gcs
