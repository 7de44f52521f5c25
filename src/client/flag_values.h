#pragma once
// Parsers for the values of gcloud's flags, by gcloud's rules. An error's message is the part of a
// usage error that follows "argument --flag: ".

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/submit_flags.h"
#include "google/gcs_uri.h"

namespace caip::client {

/// Parses "a,b". In "^;^a;b" the delimiter is ";". Drops an empty last element.
Result<std::vector<std::string>> ParseList(std::string_view text);

/// Parses "k=v,k2=v2" and keeps the order.
Result<std::vector<std::pair<std::string, std::string>>> ParseDict(std::string_view text);

/// Parses an integer as Python's int() does: with blanks, a sign and single underscores.
Result<int64_t> ParseInteger(std::string_view text);

/// Parses an integer of at least 1. "unlimited" is nullopt.
Result<std::optional<int64_t>> ParseCount(std::string_view text);

/// Parses true, yes, false or no in any case.
Result<bool> ParseBoolean(std::string_view text);

/// Parses "type=nvidia-tesla-t4,count=2".
Result<AcceleratorFlag> ParseAccelerator(std::string_view text);

/// Parses "k=v,..." and checks the characters and lengths of labels.
Result<std::map<std::string, std::string>> ParseLabels(std::string_view text);

/// Accepts an e-mail address or a number.
Status CheckServiceAccount(std::string_view text);

/// Returns "bucket" for "gs://bucket".
Result<std::string> ParseStagingBucket(std::string_view text);

/// Parses any "gs://bucket[/object]". Checks the names only if there is an object, as gcloud does.
Result<google::GcsUri> ParseObject(std::string_view url);

/// Checks the rules of bucket names. Errors are worded as by Cloud Storage.
Status CheckBucketName(std::string_view bucket);
/// Accepts at most 1024 bytes without line breaks.
Status CheckObjectName(std::string_view object);

}  // namespace caip::client
