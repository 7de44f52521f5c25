#pragma once
// Files of state directories that no machine sees, even if its launch names them (machine_files.h).

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/machine/host_tree.h"

namespace caip::host {

/// True for files of a state directory that no replica may see, whatever it names: the keys of the
/// emulator. `path` is absolute and normal.
bool IsSecretOfState(const std::string& path, const std::string& state);

/// Returns the path at the end of the links, or the path itself if links cannot be followed.
std::string FollowLinks(const std::string& path);

/// The state directories that replicas do not see, of the emulator and of the user (`outer`),
/// without those that are in another one.
std::vector<Path> HiddenStates(const Path& state, const std::vector<Path>& outer);

/// A ClosedFiles knows the files of state directories that one machine does not see: keys, and the
/// runs of other scenarios. Runs share caches, which machines see.
class ClosedFiles {
 public:
  /// `own`: the state directory of the machine's emulator. `states`: the state directories that
  /// machines do not see. `own` is one of them, or is in one of them. `mounts`: the mounts of the
  /// host. Another mount of the same file system may show a state directory at another path.
  ClosedFiles(const Path& own, const std::vector<Path>& states,
              const std::vector<HostMount>& mounts);

  /// Whether the path is one of these files. The path is absolute and normal. Does not follow
  /// links: the caller asks for the path and for FollowLinks of the path.
  bool Has(const std::string& path) const;
  /// Whether the machine gets an empty directory in place of the volume. In state directories,
  /// machines write only to buckets, to the volumes of their run and to their log files.
  /// `directory`: FollowLinks of the volume's directory.
  bool IsClosedVolume(const engine::Volume& volume, const std::string& directory) const;

 private:
  /// The path with the name of the state directory that another mount shows, or else unchanged.
  std::string FindNameInStates(const std::string& path) const;

  Path own_;
  Path own_end_;  // FollowLinks of it
  std::vector<Path> states_;
  std::vector<std::pair<std::string, std::string>> others_;  // another place, and the state
};

}  // namespace caip::host
