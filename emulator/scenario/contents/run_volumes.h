#pragma once
// The volumes of one run: directories of this host that outlive its machines. Each run works on
// copies, so that runs start from the same state and never disturb each other or the host.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"
#include "harness/expectations/expectation.h"
#include "harness/files/file_tree.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// Volumes are copied up to this size, all together.
inline constexpr uint64_t kVolumeBytesMax = 1ull << 30;

/// Made before the run starts. Then for any thread.
class RunVolumes {
 public:
  struct Places {
    Path directory;   // the copies go there
    Path begin = {};  // the directory of an earlier object; "": the host's volumes are copied
    std::vector<Path> states = {};  // directories of caip, which are left out
    bool on_machines = true;
  };
  /// Copies the scenario's volumes. A volume that does not exist is empty. Without machines,
  /// replicas see the copy of their working directory instead of it, and other volumes are an
  /// error.
  static Result<std::unique_ptr<RunVolumes>> Make(const harness::Scenario& scenario, Places places);

  /// Shows the volumes to the replica.
  void AddTo(engine::ReplicaLaunch& launch) const;
  /// The directories to watch, as replicas see them.
  std::vector<Path> Roots() const;
  /// The name in events of a file that replicas see at `path`: its path on this host. nullopt: the
  /// file is in no volume.
  std::optional<std::string> NameOf(const std::string& path) const;
  /// The path on this host of a file with such a name; nullopt: it is in no volume.
  std::optional<Path> PathOf(const std::string& name) const;
  /// Adds the volumes as they are before the run. They must have been copied from an earlier
  /// object, whose files stay.
  void AddTo(harness::FileTree& files) const;
  /// Makes the volumes equal to `files`, before the run.
  Status Restore(const harness::FileTree& files, const harness::BlockStore& store) const;
  /// Adds the files by these names. Files that the run has not touched are marked as such.
  Status Collect(std::map<std::string, harness::FinalObject>& objects) const;

 private:
  struct Copied {
    std::string named;                         // the directory, as the scenario names it
    std::string seen;                          // by replicas, without links
    Path copy;                                 // the directory of this run
    Path copied;                               // the directory that was copied
    std::vector<std::string> not_copied = {};  // directories in it, by their names
  };
  struct Stamp {
    uint64_t size = 0;
    int64_t modified_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  Status Add(const Path& volume);
  bool IsLeftOut(const Path& directory) const;
  /// What was copied of a volume so far.
  struct Copying {
    uint64_t bytes = 0;
    std::map<std::pair<dev_t, ino_t>, Path> first_names = {};
  };
  Status CopyTree(const Path& from, Copied& volume);
  Status CopyRegularFile(const Path& from, const Path& below, const Copied& volume,
                         Copying& copying);
  static std::optional<Stamp> StampOf(const Path& file);

  Places places_;
  std::vector<Copied> volumes_;
  std::map<std::string, Stamp> begin_;  // of the copied files, by their names in events
  std::string working_directory_;       // as replicas see it; "": their own
};

}  // namespace caip::scenario
