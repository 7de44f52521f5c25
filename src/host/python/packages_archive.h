#pragma once
// A look into a package before pip gets it, and wheels unpacked without pip.

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// What one package may be at most when it is unpacked.
struct ArchiveLimits {
  uint64_t bytes = 16ull << 30;
  uint64_t members = 1'000'000;
};

struct ArchiveFacts {
  bool has_pyproject = false;
  /// Of pyproject.toml's [build-system], the names in `requires`, in lower case.
  std::vector<std::string> build_requires = {};
};

/// Reads a sdist or wheel to its end. Errors name the member at fault: one that lies outside
/// (absolute, "..", a link that leads out), too many or too large ones, a broken or foreign format.
Result<ArchiveFacts> CheckArchive(const Path& archive, const ArchiveLimits& limits = {});

/// Unpacks a trusted wheel: pure Python, into a site-packages directory.
Status UnpackWheel(const Path& wheel, const Path& directory);

/// The distribution names in `requires` of [build-system]; an absent one means setuptools.
std::vector<std::string> BuildRequires(std::string_view pyproject);

}  // namespace caip::host
