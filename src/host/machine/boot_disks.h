#pragma once
// The replicas' boot disks: directories below <state>/disks.
//
//   disks/<project>/<job>/<task>            a job's replica
//   disks/<project>/<job>/trial-3/<task>    a replica of a tuning job's third trial
//   disks/<project>/<job>[/trial-3]/.hosts/<task>   what lies over /etc/hosts, in a mount namespace
//   disks/.trash/<n>                        on its way out

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

/// Makes, empties and deletes boot disks. Deleting renames the disk, so that it costs the caller
/// nothing; a worker thread does the rest. Any thread; one owner for each state directory.
class BootDisks {
 public:
  explicit BootDisks(const Path& state_directory);
  BootDisks(const BootDisks&) = delete;
  BootDisks& operator=(const BootDisks&) = delete;
  ~BootDisks();  // returns when the trash is empty

  /// A pure function of the key. The boot is not in it: a fresh disk is the same place, empty.
  Path Of(const engine::RunKey& run) const;
  Path Of(const engine::ReplicaKey& key) const;
  /// Beside the disks, and gone with them.
  Path HostsFileOf(const engine::ReplicaKey& key) const;

  /// Makes the disk; when `fresh`, what it held is gone.
  Status Make(const engine::ReplicaKey& key, bool fresh);
  void Discard(const engine::RunKey& run);
  /// An earlier emulator left disks behind: it was killed while replicas lived.
  bool AnyLeft() const;
  /// Deletes the disks of a dead emulator's replicas.
  void DiscardAll();

 private:
  void Trash(const Path& path);
  void Sweep();

  Path root_;
  Path trash_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Path> doomed_;  // guarded by mutex_
  int trashed_ = 0;           // guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
  std::thread sweeper_;
};

}  // namespace caip::host
