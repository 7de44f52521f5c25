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
#include "emulator/scenario/contents/file_recorder.h"
#include "emulator/scenario/contents/run_volumes.h"
#include "emulator/scenario/run_observer.h"
#include "emulator/scenario/watch/mapped_files.h"
#include "harness/faults/fault_injector.h"
#include "host/watch/replica_watcher.h"

namespace caip::scenario {

/// The launcher calls it, on one thread for each replica. `injector` must outlive it.
class SystemWatch final : public host::ReplicaWatcher {
 public:
  /// The directory that is a replica's disk, as the replica sees it, without links; "" if disks are
  /// not watched.
  using DiskOf = std::function<std::string(const engine::ReplicaKey& key)>;

  struct Options {
    Path buckets;  // paths below this directory are "bucket/path"
    DiskOf disk_of;
    FileRecorder* recorder = nullptr;    // may be null
    RunObserver* observer = nullptr;     // may be null
    std::set<std::string> written = {};  // files of volumes that were written before the run
  };
  /// All must outlive the watch.
  SystemWatch(harness::FaultInjector& injector, const RunVolumes& volumes, Options options)
      : injector_(injector),
        buckets_(std::move(options.buckets)),
        volumes_(volumes),
        disk_of_(std::move(options.disk_of)),
        recorder_(options.recorder),
        observer_(options.observer),
        written_(std::move(options.written)) {}

  Answer OutputSeen(const engine::ReplicaKey& key) override;
  host::Verdict Before(const engine::ReplicaKey& key,
                       const host::FileOperation& operation) override;
  host::Verdict After(const engine::ReplicaKey& key, const host::FileOperation& operation,
                      int error) override;
  bool wants_files() const override { return observer_ && observer_->WantsFiles(); }
  void LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) override;
  void Seen(const engine::ReplicaKey& key, const host::FileAccess& access) override;
  void Gone(const engine::ReplicaKey& key) override;

  /// The path on this host of a file in a bucket or a volume.
  std::optional<Path> PathOf(const std::string& name) const;

  /// Whether a file operation failed because the disk was full.
  bool disk_was_full() const { return disk_was_full_; }

 private:
  bool IsWatched(const engine::ReplicaKey& key, const host::FileOperation& operation);
  bool IsWatchedInVolume(const std::string& name, const host::FileOperation& operation);
  bool IsKept(const std::string& path) const { return IsInBucket(path) || volumes_.NameOf(path); }
  void NoteChange(const host::FileOperation& operation);
  bool IsInBucket(const std::string& path) const;
  bool IsOnDisk(const engine::ReplicaKey& key, const std::string& path) const;
  bool LacksSpace(const engine::ReplicaKey& key, const host::FileOperation& operation) const;
  harness::StorageEvent Describe(const engine::ReplicaKey& key,
                                 const host::FileOperation& operation);
  host::Verdict BeforeWrite(const engine::ReplicaKey& key, const host::FileOperation& operation);
  host::Verdict AfterOpening(const engine::ReplicaKey& key, const host::FileOperation& operation);
  host::Verdict ReportMapped(const engine::ReplicaKey& key);
  void Record(const engine::ReplicaKey& key, const host::FileOperation& operation,
              const harness::StorageEvent& event, int error);
  void NotePieces(const engine::ReplicaKey& key, const host::FileOperation& operation,
                  harness::StorageEvent& event);
  std::string ObjectOf(const engine::ReplicaKey& key, const std::string& path) const;

  harness::FaultInjector& injector_;
  Path buckets_;
  const RunVolumes& volumes_;
  DiskOf disk_of_;
  FileRecorder* recorder_;
  RunObserver* observer_;
  MappedFiles mapped_;
  std::atomic<bool> disk_was_full_{false};
  std::mutex mutex_;
  /// Paths of files that did not exist before they were opened.
  std::set<std::pair<engine::ReplicaKey, std::string>> created_;
  std::set<std::string> written_;              // files of volumes that the run has written, by name
  std::map<engine::ReplicaKey, int64_t> cut_;  // offsets at which writes were cut
  /// Of files that are open: StorageEvent::pieces.
  std::map<std::pair<engine::ReplicaKey, std::string>, std::vector<harness::WrittenPiece>> pieces_;
};

}  // namespace caip::scenario
