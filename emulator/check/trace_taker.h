#pragma once
// Fills in what a run of a session left behind beside its event list.

#include <map>
#include <mutex>
#include <string>

#include "base/files.h"
#include "emulator/scenario/onlooker.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// For one run. Its launches, files, processes and lines, until they are handed over.
class TraceTaker final : public scenario::Onlooker {
 public:
  /// `buckets`: below it files are objects. `looks`: files are of interest.
  TraceTaker(const Path& buckets, bool looks) : buckets_(buckets.string() + "/"), looks_(looks) {}

  void Launching(const engine::ReplicaLaunch& launch, const std::string& boot_disk) override;
  bool looks() const override { return looks_; }
  void LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) override;
  void Seen(const engine::ReplicaKey& key, const host::FileSight& sight) override;
  void Printed(const engine::LogLine& line) override;
  void Ended(const engine::ReplicaExit& exit) override;

  /// When the run is over.
  void HandOver(harness::CheckRun& run);

 private:
  void Open(const std::string& replica, const host::FileSight& sight);
  void Rename(const std::string& from, const std::string& to, bool is_there);
  void Delete(const std::string& path);
  void Measure(const std::string& replica);

  const std::string buckets_;
  const bool looks_;
  std::mutex mutex_;
  std::vector<harness::LaunchedReplica> launched_;
  std::map<std::string, harness::TouchedFile> files_;    // by path
  std::map<std::string, engine::MetricSource> metrics_;  // by replica
  harness::Traces traces_;
};

}  // namespace caip::check
