#pragma once
// The values of gcloud's flags, read by its own rules. Errors hold what stands behind
// "argument --flag: " in a usage error.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/submit_flags.h"

namespace caip::client {

/// "a,b"; with "^;^a;b" the delimiter is ";". A last empty element is dropped.
Result<std::vector<std::string>> ParseList(std::string_view text);

/// "k=v,k2=v2" in order.
Result<std::vector<std::pair<std::string, std::string>>> ParseDict(std::string_view text);

/// Python's int(): blanks, a sign and single underscores are fine.
Result<int64_t> ParseInteger(std::string_view text);

/// An integer of at least 1; "unlimited" is nullopt.
Result<std::optional<int64_t>> ParseCount(std::string_view text);

/// true, yes, false, no in any case.
Result<bool> ParseBoolean(std::string_view text);

/// "type=nvidia-tesla-t4,count=2".
Result<AcceleratorFlag> ParseAccelerator(std::string_view text);

/// "k=v,..." with the alphabet and length of labels.
Result<std::map<std::string, std::string>> ParseLabels(std::string_view text);

/// An e-mail address or a number.
Status CheckServiceAccount(std::string_view text);

/// "gs://bucket" -> "bucket".
Result<std::string> ParseStagingBucket(std::string_view text);

/// Where an object is: "gs://bucket/object".
struct ObjectName {
  std::string bucket;
  std::string object;  // may be empty for --job-dir
};
/// Any "gs://bucket[/object]"; the bucket's name is checked only where there is an object, as
/// gcloud does.
Result<ObjectName> ParseObject(std::string_view url);

/// The rules of bucket names, in the words of Cloud Storage.
Status CheckBucketName(std::string_view bucket);
/// At most 1024 bytes, no line breaks.
Status CheckObjectName(std::string_view object);

}  // namespace caip::client
