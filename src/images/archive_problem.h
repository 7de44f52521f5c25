#pragma once
// What libarchive says about an error.

#include <string>
#include <string_view>

struct archive;

namespace caip::images {

inline constexpr std::string_view kCompressionBroken =
    "its compressed data are damaged or end too early";

/// Why the last call for `opened` failed. libarchive has no text for some failures, such as a gzip
/// file without its last bytes: those get `otherwise`.
std::string ArchiveProblem(archive* opened, std::string_view otherwise = kCompressionBroken);

}  // namespace caip::images
