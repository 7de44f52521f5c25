#pragma once
// gs://bucket/object: the form of places in Cloud Storage.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::google {

struct GcsUri {
  std::string bucket;
  std::string object;  // "" for the bucket itself; a trailing slash is kept
  bool operator==(const GcsUri&) const = default;
};

/// 3 to 222 characters a-z 0-9 - _ . with a letter or digit at both ends; parts between dots of 1
/// to 63 characters; no IP address.
bool IsBucketName(std::string_view name);
/// At most 1024 bytes of UTF-8 without line ends or NUL; "" is one here.
bool IsObjectName(std::string_view name);

/// kInvalidArgument says which rule is broken, without naming the text.
Result<GcsUri> ParseGcsUri(std::string_view text);
/// "gs://bucket" or "gs://bucket/object".
std::string Text(const GcsUri& uri);

}  // namespace caip::google
