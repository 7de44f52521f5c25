#pragma once
// Reads packages (sdists and wheels) without pip.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// The limits of an unpacked package.
struct ArchiveLimits {
  uint64_t bytes = 16ull << 30;
  uint64_t members = 1'000'000;
};

struct ArchiveFacts {
  bool has_pyproject = false;
  /// The names in `requires` of pyproject.toml's [build-system], in lower case.
  std::vector<std::string> build_requires = {};
};

/// Reads an sdist or wheel completely. An error names the faulty member: one outside of the
/// directory (an absolute path, "..", a link to the outside), too many or too large members, or a
/// broken or unknown format.
Result<ArchiveFacts> CheckArchive(const Path& archive, const ArchiveLimits& limits = {});

/// Unpacks a trusted wheel of pure Python into a site-packages directory.
Status UnpackWheel(const Path& wheel, const Path& directory);

/// The distribution names in `requires` of [build-system]; a missing one means setuptools.
std::vector<std::string> BuildRequires(std::string_view pyproject);

/// A file or link of an archive.
struct ArchiveFile {
  std::string bytes;
  std::string link;  // the target; "" for a file
  unsigned mode = 0;
  bool operator==(const ArchiveFile&) const = default;
};

/// The files and links of an archive that CheckArchive accepted, by their names. An Error if they
/// have more than `limit` bytes.
Result<std::map<std::string, ArchiveFile>> ReadArchive(const Path& archive, uint64_t limit);

}  // namespace caip::host
