#pragma once
// Mounts of NFS servers: which directory of this host stands for one, and where replicas see it
// (docs/service/vertex.md, section 3).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vertex/custom_job.h"

namespace caip::vertex {

/// Directories of this host, by the exports for which they stand: "10.0.0.2:/data".
using NfsExports = std::map<std::string, std::string>;

/// The export as a key of NfsExports: without final slashes, empty names and `.`. nullopt if it is
/// not SERVER:/PATH, or has `..`.
std::optional<std::string> NormalExport(std::string_view text);

/// True if the path begins with '/' and has no `..`.
bool IsNfsPath(std::string_view path);

/// The directory that stands for what the mount names: that of the export, or one below it if only
/// a directory above is exported. nullopt: none does.
std::optional<std::string> DirectoryOf(const NfsMount& mount, const NfsExports& exports);

/// Where replicas see the mount: "/mnt/nfs/data". nullopt: its mount point is not valid.
std::optional<std::string> PlaceOf(const NfsMount& mount);

/// The places of a pool's mounts.
class MountPlaces {
 public:
  /// Adds a place. Returns one of those before that is the same, above it or below it.
  std::optional<std::string> Add(const std::string& place);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace caip::vertex
