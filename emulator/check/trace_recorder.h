#pragma once
// Collects what a run of `caip check` leaves behind besides its event list.

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/files.h"
#include "emulator/scenario/run_observer.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// Collects the launches, files, processes and lines of one run.
class TraceRecorder final : public scenario::RunObserver {
 public:
  /// Leaves out files below `buckets`, which are objects. Collects no files without `wants_files`.
  TraceRecorder(const Path& buckets, bool wants_files)
      : buckets_(buckets.string() + "/"), wants_files_(wants_files) {}

  void Launching(const engine::ReplicaLaunch& launch, engine::LocalDisks& disks) override;
  bool WantsFiles() const override { return wants_files_; }
  void LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) override;
  void Seen(const engine::ReplicaKey& key, const host::FileAccess& access) override;
  void Printed(const engine::LogLine& line) override;
  void Ended(const engine::ReplicaExit& exit) override;

  /// Call it once, after the run has ended.
  void HandOver(harness::CheckRun& run);

 private:
  /// Identifies a file: the machine that has it ("": the host), and its path there.
  using FileKey = std::pair<std::string, std::string>;
  FileKey KeyOf(const engine::ReplicaKey& key, const std::string& path) const;
  bool IsOnOwnDisk(const engine::ReplicaKey& key, const std::string& path) const;
  void Open(const engine::ReplicaKey& key, const host::FileAccess& access);
  void Rename(const FileKey& from, const FileKey& to, bool is_there);
  void Delete(const FileKey& file);
  void Measure(const engine::ReplicaKey& key);

  const std::string buckets_;
  const bool wants_files_;
  std::mutex mutex_;
  std::vector<harness::LaunchedReplica> launched_;
  std::map<FileKey, harness::TouchedFile> files_;
  std::map<std::string, engine::MetricSource> metrics_;  // by replica
  std::map<std::string, std::string> boot_disks_;        // by replica; "": its root
  engine::LocalDisks* disks_ = nullptr;                  // set by the first launch
  harness::Traces traces_;
};

}  // namespace caip::check
