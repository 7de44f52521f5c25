#pragma once
// URIs of Cloud Storage: gs://bucket/object.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::google {

inline constexpr std::string_view kGcsScheme = "gs://";

struct GcsUri {
  std::string bucket;
  std::string object;  // "" for the bucket itself; a trailing slash is kept
  bool operator==(const GcsUri&) const = default;
};

/// True for 3 to 222 characters a-z 0-9 - _ . that start and end with a letter or digit, with 1 to
/// 63 characters between dots. An IP address is not a bucket name.
bool IsBucketName(std::string_view name);
/// True for at most 1024 bytes of UTF-8 without line breaks or NUL, and for "".
bool IsObjectName(std::string_view name);

/// True for text that begins with gs://. The rest may break the rules of names.
constexpr bool HasGcsScheme(std::string_view text) { return text.starts_with(kGcsScheme); }
/// Splits "gs://bucket/object" without checking the names. nullopt: the text has another scheme.
std::optional<GcsUri> SplitGcsUri(std::string_view text);
/// kInvalidArgument: the message states the broken rule, not the text.
Result<GcsUri> ParseGcsUri(std::string_view text);
/// "gs://bucket" or "gs://bucket/object".
std::string Text(const GcsUri& uri);

}  // namespace caip::google
