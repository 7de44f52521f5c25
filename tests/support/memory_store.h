#pragma once
// Jobs and log lines in memory.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "engine/ports.h"

namespace caip::engine {

/// Jobs in memory; outlives engines as a state directory does. Any thread.
class MemoryStore final : public JobStore {
 public:
  std::function<void(const JobRecord* before, const JobRecord& after)> on_save;
  std::function<std::optional<Error>(const JobRecord&)> refuse;  // may say no to a write

  Status Create(const JobRecord& record) override { return Write(record, true); }
  Status Save(const JobRecord& record) override { return Write(record, false); }
  Result<JobRecord> Get(const std::string& project, const std::string& job_id) const override {
    std::lock_guard lock(mutex_);
    const auto found = records_.find({project, job_id});
    if (found == records_.end()) return Error{Code::kNotFound, "no such job"};
    return found->second.second;
  }
  Result<std::vector<JobRecord>> List(const JobQuery& query) const override {
    std::vector<JobRecord> records;
    bool behind = query.before_id.empty();
    const auto all = InOrder();
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      if (it->project != query.project) continue;
      if (behind && (query.limit == 0 || records.size() < static_cast<size_t>(query.limit))) {
        records.push_back(*it);
      }
      behind = behind || it->job.job_id == query.before_id;
    }
    return records;
  }
  Result<std::vector<JobRecord>> Unfinished() const override {
    std::vector<JobRecord> records;
    for (JobRecord& record : InOrder()) {
      if (!spec::IsTerminal(record.job.state)) records.push_back(std::move(record));
    }
    return records;
  }
  std::vector<JobRecord> InOrder() const {
    std::lock_guard lock(mutex_);
    std::map<uint64_t, JobRecord> by_age;
    for (const auto& [key, entry] : records_) by_age.emplace(entry.first, entry.second);
    std::vector<JobRecord> records;
    for (auto& [age, record] : by_age) records.push_back(std::move(record));
    return records;
  }

 private:
  Status Write(const JobRecord& record, bool create) {
    std::lock_guard lock(mutex_);
    if (refuse) {
      if (auto error = refuse(record)) return *error;
    }
    const auto found = records_.find({record.project, record.job.job_id});
    const bool exists = found != records_.end();
    if (create && exists) return Error{Code::kAlreadyExists, "taken"};
    if (on_save) on_save(exists ? &found->second.second : nullptr, record);
    if (exists) {
      found->second.second = record;
    } else {
      records_.emplace(std::pair(record.project, record.job.job_id), std::pair(made_++, record));
    }
    return Ok{};
  }

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, JobRecord>> records_;
  uint64_t made_ = 0;
};

/// Keeps all lines. Any thread.
class MemoryLog final : public LogSink {
 public:
  void Write(std::vector<LogLine> lines) override {
    std::lock_guard lock(mutex_);
    if (keep) lines_.insert(lines_.end(), lines.begin(), lines.end());
  }
  void Flush() override {}
  std::vector<std::string> Of(const std::string& job_id, const std::string& task) const {
    std::lock_guard lock(mutex_);
    std::vector<std::string> messages;
    for (const LogLine& line : lines_) {
      if (line.run.job_id == job_id && line.task == task) messages.push_back(line.message);
    }
    return messages;
  }
  bool keep = true;

 private:
  mutable std::mutex mutex_;
  std::vector<LogLine> lines_;
};

}  // namespace caip::engine
