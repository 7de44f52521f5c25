#pragma once
// Jobs and log lines in memory.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "engine/ports.h"

namespace caip::harness {

/// Jobs in memory, which outlive an engine as a state directory does. Any thread.
class MemoryStore final : public engine::JobStore {
 public:
  using JobRecord = engine::JobRecord;
  std::function<void(const JobRecord* before, const JobRecord& after)> on_save;
  std::function<void(const engine::TrialRecord& after)> on_trial;
  std::function<void(const engine::RunKey& trial, const std::vector<engine::Report>&)> on_reports;
  std::function<std::optional<Error>()> refuse;  // may refuse a write

  Status Create(const JobRecord& record) override { return Write(record, true); }
  Status Save(const JobRecord& record) override { return Write(record, false); }
  Status Remove(const std::string& project, const std::string& job_id,
                engine::RemovedId id) override;
  Result<JobRecord> Get(const std::string& project, const std::string& job_id) const override;
  Result<JobRecord> Find(const std::string& job_id) const override;
  Result<std::vector<JobRecord>> List(const engine::JobQuery& query) const override;
  Result<std::vector<JobRecord>> Unfinished() const override;
  Result<int64_t> CountCreated() const override;
  Result<std::optional<Instant>> NewestCreateTime() const override;
  Status SaveTrial(const engine::TrialRecord& record) override;
  Status AddReports(const engine::RunKey& trial,
                    const std::vector<engine::Report>& reports) override;
  Result<std::vector<engine::TrialRecord>> Trials(const std::string& project,
                                                  const std::string& job_id) const override;
  /// All records, oldest first.
  std::vector<JobRecord> InOrder() const;

 private:
  Status Write(const JobRecord& record, bool create);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, JobRecord>> records_;
  std::set<std::pair<std::string, std::string>> taken_ids_;  // of jobs that were removed
  std::map<engine::RunKey, engine::TrialRecord> trials_;
  uint64_t made_ = 0;
};

/// Keeps all lines. Any thread.
class MemoryLog final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine> lines) override;
  Status Flush() override;
  bool IsStored(std::function<void()> stored) override;
  std::vector<std::string> Of(const std::string& job_id, const std::string& task) const;
  bool keep = true;
  /// If given, lines are durable only after it has called its argument.
  std::function<void(std::function<void()>)> store_later;
  /// Loses the lines that are not durable, as SIGKILL does.
  void LoseUnstored();

 private:
  mutable std::mutex mutex_;
  size_t stored_ = 0;  // of lines_
  std::vector<engine::LogLine> lines_;
};

}  // namespace caip::harness
