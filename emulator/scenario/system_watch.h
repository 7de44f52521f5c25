#pragma once
// A replica's own system calls as moments of the injector: lines it prints, and, where storage is a
// directory, files it handles.

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/files.h"
#include "emulator/scenario/onlooker.h"
#include "harness/faults/fault_injector.h"
#include "host/watch/replica_watcher.h"

namespace caip::scenario {

/// Called by host on a thread for each replica; `injector` outlives it.
class SystemWatch final : public host::ReplicaWatcher {
 public:
  /// `buckets`: the directory below which paths are "bucket/path".
  /// `onlooker`: told of sights; may be null.
  SystemWatch(harness::FaultInjector& injector, Path buckets, Onlooker* onlooker)
      : injector_(injector), buckets_(std::move(buckets)), onlooker_(onlooker) {}

  Answer OutputSeen(const engine::ReplicaKey& key) override;
  host::Verdict Before(const engine::ReplicaKey& key,
                       const host::FileOperation& operation) override;
  host::Verdict After(const engine::ReplicaKey& key, const host::FileOperation& operation,
                      int error) override;
  bool looks() const override { return onlooker_ && onlooker_->looks(); }
  void LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) override;
  void Seen(const engine::ReplicaKey& key, const host::FileSight& sight) override;
  void Gone(const engine::ReplicaKey& key) override;

  /// A file operation failed for want of room.
  bool disk_was_full() const { return disk_was_full_; }

 private:
  harness::StorageEvent Describe(const host::FileOperation& operation);
  host::Verdict BeforeWrite(const engine::ReplicaKey& key, const host::FileOperation& operation);
  std::string ObjectOf(const std::string& path) const;

  harness::FaultInjector& injector_;
  Path buckets_;
  Onlooker* onlooker_;
  std::atomic<bool> disk_was_full_{false};
  std::mutex mutex_;
  std::set<std::string> created_;              // files that were not there when they were opened
  std::map<engine::ReplicaKey, int64_t> cut_;  // where a write was cut, to be told of
};

}  // namespace caip::scenario
