#pragma once
// The replicas' boot disks: directories below <state>/disks.
//
//   disks/<project>/<job>/<task>            a job's replica
//   disks/<project>/<job>/trial-3/<task>    a replica of a tuning job's third trial
//   disks/<project>/<job>[/trial-3]/.<task>.hosts   a machine's /etc/hosts
//   disks/<project>/<job>[/trial-3]/.<task>.resolver   its /etc/resolv.conf
//   disks/<project>/<job>[/trial-3]/.<task>.hostname   its /etc/hostname, if an image has its files
//   disks/<project>/<job>[/trial-3]/.<task>.watch   the socket of a watched machine
//   disks/.trash/<n>                        waits for its deletion
//
// What runs have left is kept on request, in directories of the same names:
//
//   kept-disks/<project>/<job>[/trial-3]/<task>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

/// The directory of the kept disks of a job and its trials.
Path KeptDisksOf(const Path& state_directory, const engine::RunKey& run);

/// Copies the working files of a launch to a directory of its disk, if the disk is fresh.
Status CopyWorkingFiles(const engine::ReplicaLaunch& launch, const Path& directory);

/// Makes, empties and deletes boot disks. The caller of a deletion does not wait: the disk is only
/// renamed, and a worker thread deletes it. Any thread; one owner for each state directory.
class BootDisks {
 public:
  /// `keep`: the disks of a run that has ended are kept.
  explicit BootDisks(const Path& state_directory, bool keep = false);
  BootDisks(const BootDisks&) = delete;
  BootDisks& operator=(const BootDisks&) = delete;
  ~BootDisks();  // returns when the trash is empty

  /// Depends only on the key, and not on its boot: a fresh disk is the same directory, emptied.
  Path Of(const engine::RunKey& run) const;
  Path Of(const engine::ReplicaKey& key) const;
  /// A file beside the disks. It is deleted with them.
  Path HostsFileOf(const engine::ReplicaKey& key) const;
  /// Likewise.
  Path ResolverFileOf(const engine::ReplicaKey& key) const;
  Path HostNameFileOf(const engine::ReplicaKey& key) const;
  Path WatchSocketOf(const engine::ReplicaKey& key) const;

  /// Makes the disk. `fresh`: deletes its earlier contents; an error if that is not possible.
  Status Make(const engine::ReplicaKey& key, bool fresh);
  /// Deletes the disks of a run, or moves them to kept-disks. Those of an earlier run of the same
  /// name that were kept are deleted.
  void Discard(const engine::RunKey& run);
  /// Whether an earlier emulator left disks, because it was killed while replicas lived.
  bool AnyLeft() const;
  /// Deletes the disks of a dead emulator's replicas.
  void DiscardAll();

 private:
  void Keep(const engine::RunKey& run);
  void Trash(const Path& path);
  void Sweep();

  bool IsOfRuns(const Path& place) const;

  Path root_;
  Path trash_;
  Path kept_;
  bool keep_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Path> to_delete_;  // guarded by mutex_
  int trashed_ = 0;              // guarded by mutex_
  bool stopping_ = false;        // guarded by mutex_
  std::thread sweeper_;
};

}  // namespace caip::host
