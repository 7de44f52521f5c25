#pragma once
// The sizes of replicas' boot disks, held at their writes: a write that does not fit fails with
// ENOSPC, as on a full disk.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/files.h"
#include "engine/ports.h"
#include "host/watch/replica_watcher.h"

namespace caip::host {

/// Counts what replicas write to their disks. What it counts is never less than what the disk has:
/// it looks through the disk again before it refuses a write, and through the files that the
/// replica's processes have open and have deleted.
class DiskLimits final : public ReplicaWatcher {
 public:
  /// A replica's disk: a directory of this host, and what it may take.
  struct Disk {
    Path directory;
    uint64_t bytes = 0;
    Path shown = {};  // the directory as the replica sees it; "/": the root of a machine
  };
  /// A boot begins on a disk. Before the first call about it.
  void Begin(const engine::ReplicaKey& key, Disk disk);
  /// Whether a write of the boot was refused.
  bool WasFull(const engine::ReplicaKey& key) const;

  // ReplicaWatcher
  void Started(const engine::ReplicaKey& key, pid_t init) override;
  bool wants_deleted() const override { return true; }
  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey& key, const FileOperation& operation) override;
  Verdict After(const engine::ReplicaKey& key, const FileOperation& operation, int error) override;
  void Gone(const engine::ReplicaKey& key) override;

 private:
  /// A disk in use. Only the replica's own thread changes it, except `was_full`.
  struct Usage {
    Disk disk;
    pid_t init = 0;  // the ancestor of the replica's processes
    bool is_measured = false;
    uint64_t measured = 0;  // bytes that the disk had when it was looked through
    uint64_t written = 0;   // since then
    int refused = 0;        // writes since then
    bool was_full = false;  // guarded by mutex_
  };
  std::shared_ptr<Usage> UsageOf(const engine::ReplicaKey& key) const;
  static uint64_t RoomFor(Usage& usage, uint64_t bytes);

  mutable std::mutex mutex_;
  std::map<engine::ReplicaKey, std::shared_ptr<Usage>> usages_;  // guarded by mutex_
};

}  // namespace caip::host
