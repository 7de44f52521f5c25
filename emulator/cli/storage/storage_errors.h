#pragma once
// The errors of `caip ls`, `cp`, `cat`, `rm` and `buckets rm`. Each names what it is about.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::cli::errors {

/// Cloud Storage refused a request about `what`. The code follows from the HTTP status.
Error StorageRefused(const std::string& what, int status, const std::string& message);
Error NothingMatches(const std::string& uri);
Error IsAFolder(const std::string& uri, std::string_view command);
Error IsABucket(const std::string& uri);
Error BucketIsNotEmpty(const std::string& bucket);
Error ObjectNameMissing(const std::string& uri);
/// An object whose name leads out of the directory, or that a file system cannot have.
Error NotAFileName(const std::string& object, const std::string& directory);
Error NotADirectory(const std::string& path, size_t sources);
Error SameDestination(const std::string& place);
Error FileMissing(const std::string& path);
Error IsADirectory(const std::string& path);
/// Reading or writing a local file failed.
Error LocalFileFailed(const std::string& path, int error_number);

// Usage errors.
Error TwoPlacesNeeded();
Error NoPlaceInStorage();
Error NotAnObjectUri(const std::string& text);

}  // namespace caip::cli::errors
