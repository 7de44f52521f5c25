#pragma once
// Reports system calls of replicas to the fault injector: output of lines, uses of files if storage
// is a directory, uses of files in volumes, and changes of files on replicas' disks.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/files.h"
#include "emulator/scenario/run_observer.h"
#include "emulator/scenario/run_volumes.h"
#include "harness/faults/fault_injector.h"
#include "host/watch/replica_watcher.h"

namespace caip::scenario {

/// The launcher calls it, on one thread for each replica. `injector` must outlive it.
class SystemWatch final : public host::ReplicaWatcher {
 public:
  /// The directory that is a replica's disk, as the replica sees it, without links; "" if disks are
  /// not watched.
  using DiskOf = std::function<std::string(const engine::ReplicaKey& key)>;

  /// Paths below the directory `buckets` are "bucket/path". `volumes` must outlive the watch.
  /// `observer` may be null.
  SystemWatch(harness::FaultInjector& injector, Path buckets, const RunVolumes& volumes,
              DiskOf disk_of, RunObserver* observer)
      : injector_(injector),
        buckets_(std::move(buckets)),
        volumes_(volumes),
        disk_of_(std::move(disk_of)),
        observer_(observer) {}

  Answer OutputSeen(const engine::ReplicaKey& key) override;
  host::Verdict Before(const engine::ReplicaKey& key,
                       const host::FileOperation& operation) override;
  host::Verdict After(const engine::ReplicaKey& key, const host::FileOperation& operation,
                      int error) override;
  bool wants_files() const override { return observer_ && observer_->WantsFiles(); }
  void LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) override;
  void Seen(const engine::ReplicaKey& key, const host::FileAccess& access) override;
  void Gone(const engine::ReplicaKey& key) override;

  /// Whether a file operation failed because the disk was full.
  bool disk_was_full() const { return disk_was_full_; }

 private:
  bool IsWatched(const engine::ReplicaKey& key, const host::FileOperation& operation);
  bool IsWatchedInVolume(const std::string& name, const host::FileOperation& operation);
  void NoteChange(const host::FileOperation& operation);
  bool IsInBucket(const std::string& path) const;
  bool IsOnDisk(const engine::ReplicaKey& key, const std::string& path) const;
  bool LacksSpace(const engine::ReplicaKey& key, const host::FileOperation& operation) const;
  harness::StorageEvent Describe(const engine::ReplicaKey& key,
                                 const host::FileOperation& operation);
  host::Verdict BeforeWrite(const engine::ReplicaKey& key, const host::FileOperation& operation);
  std::string ObjectOf(const engine::ReplicaKey& key, const std::string& path) const;

  harness::FaultInjector& injector_;
  Path buckets_;
  const RunVolumes& volumes_;
  DiskOf disk_of_;
  RunObserver* observer_;
  std::atomic<bool> disk_was_full_{false};
  std::mutex mutex_;
  /// Paths of files that did not exist before they were opened.
  std::set<std::pair<engine::ReplicaKey, std::string>> created_;
  std::set<std::string> written_;              // files of volumes that the run has written, by name
  std::map<engine::ReplicaKey, int64_t> cut_;  // offsets at which writes were cut
};

}  // namespace caip::scenario
