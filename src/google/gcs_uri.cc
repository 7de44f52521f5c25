#include "google/gcs_uri.h"

#include <algorithm>

#include "base/text.h"
#include "google/errors.h"

namespace caip::google {
namespace {

// Cloud Storage, naming of buckets and objects
constexpr size_t kBucketNameLengthMin = 3;
constexpr size_t kBucketNameLengthMax = 222;
constexpr size_t kBucketNamePartMax = 63;
constexpr size_t kObjectNameLengthMax = 1024;

bool IsEnd(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); }

bool LooksLikeIpAddress(const std::vector<std::string>& parts) {
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return std::all_of(part.begin(), part.end(), IsDigit);
         });
}

}  // namespace

bool IsBucketName(std::string_view name) {
  if (name.size() < kBucketNameLengthMin || name.size() > kBucketNameLengthMax) return false;
  if (!IsEnd(name.front()) || !IsEnd(name.back())) return false;
  for (const char c : name) {
    if (!IsEnd(c) && c != '-' && c != '_' && c != '.') return false;
  }
  const std::vector<std::string> parts = Split(name, '.');
  for (const std::string& part : parts) {
    if (part.empty() || part.size() > kBucketNamePartMax) return false;
  }
  return !LooksLikeIpAddress(parts);
}

bool IsObjectName(std::string_view name) {
  return name.size() <= kObjectNameLengthMax && IsUtf8(name) &&
         name.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

std::optional<GcsUri> SplitGcsUri(std::string_view text) {
  if (!HasGcsScheme(text)) return std::nullopt;
  text.remove_prefix(kGcsScheme.size());
  const size_t slash = text.find('/');
  GcsUri uri{std::string(text.substr(0, slash)), ""};
  if (slash != std::string_view::npos) uri.object = text.substr(slash + 1);
  return uri;
}

Result<GcsUri> ParseGcsUri(std::string_view text) {
  std::optional<GcsUri> uri = SplitGcsUri(text);
  if (!uri) return errors::NotAGcsUri();
  if (!IsBucketName(uri->bucket)) return errors::BucketNameIllegal(uri->bucket);
  if (!IsObjectName(uri->object)) return errors::ObjectNameIllegal();
  return *std::move(uri);
}

std::string Text(const GcsUri& uri) {
  const std::string bucket = std::string(kGcsScheme) + uri.bucket;
  return uri.object.empty() ? bucket : bucket + "/" + uri.object;
}

}  // namespace caip::google
