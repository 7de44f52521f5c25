#pragma once
// Which files `caip cp` copies, and where to.

#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "emulator/cli/storage/bucket_files.h"
#include "google/gcs_uri.h"

namespace caip::cli {

/// A file of this host, an object, or "-": the standard streams.
using CopyPlace = std::variant<Path, google::GcsUri>;

/// One file to copy.
struct Copy {
  CopyPlace from;
  CopyPlace to;
  uint64_t bytes = 0;
};

/// "gs://bucket/name" is an object, all other texts are paths.
Result<CopyPlace> ReadCopyPlace(const std::string& text);
std::string Text(const CopyPlace& place);

/// What gsutil copies: files keep their last name in a directory, and the contents of a directory
/// their paths in it. A destination that does not exist gets the contents of the one directory
/// itself. Nothing is copied yet; all mistakes come before the first copy.
Result<std::vector<Copy>> PlanCopies(BucketFiles& files, const std::vector<CopyPlace>& sources,
                                     const CopyPlace& destination, bool recursive);

}  // namespace caip::cli
