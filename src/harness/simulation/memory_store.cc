#include "harness/simulation/memory_store.h"

#include <algorithm>

#include "harness/errors.h"

namespace caip::harness {

using engine::JobRecord;

Result<JobRecord> MemoryStore::Get(const std::string& project, const std::string& job_id) const {
  std::lock_guard lock(mutex_);
  const auto found = records_.find({project, job_id});
  if (found == records_.end()) return errors::NoSuchRecord("job");
  return found->second.second;
}

Result<JobRecord> MemoryStore::Find(const std::string& job_id) const {
  for (JobRecord& record : InOrder()) {
    if (!record.job.api.empty() && record.job.key.job_id == job_id) return std::move(record);
  }
  return errors::NoSuchRecord("job");
}

Result<std::vector<JobRecord>> MemoryStore::List(const engine::JobQuery& query) const {
  std::vector<JobRecord> records;
  bool is_after = query.before_id.empty();
  const auto all = InOrder();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const run::RunKey& key = it->job.key;
    if (!query.project.empty() && key.project != query.project) continue;
    if (it->job.api != query.api || key.location != query.location) continue;
    is_after = is_after || (query.before_time && it->job.create_time < query.before_time);
    if (is_after && (query.limit == 0 || records.size() < static_cast<size_t>(query.limit))) {
      records.push_back(*it);
    }
    is_after = is_after || key.job_id == query.before_id;
  }
  return records;
}

Result<std::vector<JobRecord>> MemoryStore::Unfinished() const {
  std::vector<JobRecord> records;
  for (JobRecord& record : InOrder()) {
    if (!run::IsTerminal(record.job.state)) records.push_back(std::move(record));
  }
  return records;
}

Result<int64_t> MemoryStore::CountCreated() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(made_);
}

Result<std::optional<Instant>> MemoryStore::NewestCreateTime() const {
  std::optional<Instant> newest;
  for (const JobRecord& record : InOrder()) newest = std::max(newest, record.job.create_time);
  return newest;
}

std::vector<JobRecord> MemoryStore::InOrder() const {
  std::lock_guard lock(mutex_);
  std::map<uint64_t, const JobRecord*> by_age;
  for (const auto& [key, entry] : records_) by_age.emplace(entry.first, &entry.second);
  std::vector<JobRecord> records;
  for (const auto& [age, record] : by_age) records.push_back(*record);
  return records;
}

Status MemoryStore::Write(const JobRecord& record, bool create) {
  std::lock_guard lock(mutex_);
  if (refuse) {
    if (auto error = refuse()) return *error;
  }
  const std::pair id(record.job.key.project, record.job.key.job_id);
  const auto found = records_.find(id);
  const bool exists = found != records_.end();
  if (create && (exists || taken_ids_.contains(id))) return errors::RecordExists();
  if (on_save) on_save(exists ? &found->second.second : nullptr, record);
  if (exists) {
    found->second.second = record;
  } else {
    records_.emplace(id, std::pair(made_++, record));
  }
  return Ok{};
}

Status MemoryStore::Remove(const std::string& project, const std::string& job_id,
                           engine::RemovedId id) {
  std::lock_guard lock(mutex_);
  if (refuse) {
    if (auto error = refuse()) return *error;
  }
  std::erase_if(trials_, [&](const auto& trial) {
    return trial.first.project == project && trial.first.job_id == job_id;
  });
  if (records_.erase({project, job_id}) == 0) return errors::NoSuchRecord("job");
  if (id == engine::RemovedId::kTaken) taken_ids_.emplace(project, job_id);
  return Ok{};
}

Status MemoryStore::SaveTrial(const engine::TrialRecord& record) {
  std::lock_guard lock(mutex_);
  if (refuse) {
    if (auto error = refuse()) return *error;
  }
  if (on_trial) on_trial(record);
  engine::TrialRecord& kept = trials_[record.job.key];
  std::vector<engine::Report> reports = std::move(kept.reports);
  kept = record;
  kept.reports = std::move(reports);
  return Ok{};
}

Status MemoryStore::AddReports(const engine::RunKey& trial,
                               const std::vector<engine::Report>& reports) {
  std::lock_guard lock(mutex_);
  if (refuse) {
    if (auto error = refuse()) return *error;
  }
  const auto found = trials_.find(trial);
  if (found == trials_.end()) return errors::NoSuchRecord("trial");
  if (on_reports) on_reports(trial, reports);
  std::vector<engine::Report>& kept = found->second.reports;
  kept.insert(kept.end(), reports.begin(), reports.end());
  return Ok{};
}

Result<std::vector<engine::TrialRecord>> MemoryStore::Trials(const std::string& project,
                                                             const std::string& job_id) const {
  std::lock_guard lock(mutex_);
  std::map<int64_t, engine::TrialRecord> by_number;
  for (const auto& [key, record] : trials_) {
    if (key.project == project && key.job_id == job_id) {
      by_number.emplace(std::stoll(key.trial), record);
    }
  }
  std::vector<engine::TrialRecord> records;
  for (auto& [number, record] : by_number) records.push_back(std::move(record));
  return records;
}

void MemoryLog::Write(std::vector<engine::LogLine> lines) {
  if (!keep) return;
  std::lock_guard lock(mutex_);
  lines_.insert(lines_.end(), lines.begin(), lines.end());
}

Status MemoryLog::Flush() {
  std::lock_guard lock(mutex_);
  stored_ = lines_.size();
  return Ok{};
}

bool MemoryLog::IsStored(std::function<void()> stored) {
  std::unique_lock lock(mutex_);
  const size_t lines = lines_.size();
  if (!store_later || stored_ == lines) return true;
  lock.unlock();
  store_later([this, lines, stored = std::move(stored)] {
    {
      std::lock_guard storing(mutex_);
      stored_ = std::max(stored_, lines);
    }
    stored();
  });
  return false;
}

void MemoryLog::LoseUnstored() {
  std::lock_guard lock(mutex_);
  lines_.resize(stored_);
}

std::vector<std::string> MemoryLog::Of(const std::string& job_id, const std::string& task) const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> messages;
  for (const engine::LogLine& line : lines_) {
    if (line.run.job_id == job_id && line.task == task) messages.push_back(line.message);
  }
  return messages;
}

}  // namespace caip::harness
